#!/usr/bin/env python3
# The same five checks as the chain of bench-hook, as people write them today.
import json, sys
event = json.load(sys.stdin)
args = event["tool_input"]
for pointer, bound in (("command", 1000), ("description", 1000)):
    if len(args.get(pointer, "")) > bound:
        print("too long", file=sys.stderr)
        sys.exit(2)
if not 0 <= args.get("timeout", 0) <= 600000 or "tier" in args:
    print("out of bounds", file=sys.stderr)
    sys.exit(2)
sys.exit(0)

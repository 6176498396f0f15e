/* replytable.h - the reply's services, as struct pawl_host has them.
 *
 * Layer: core; included by reply.c, hosttable.c, and whoever repeats what was called elsewhere.
 */
#ifndef PAWL_CORE_REPLYTABLE_H
#define PAWL_CORE_REPLYTABLE_H

#include <pawl/plugin.h>

void reply_reason(pawl_reply *reply, pawl_str rule, pawl_str why);
int32_t reply_result(pawl_reply *reply, pawl_str json, int32_t is_error);
void reply_approval(pawl_reply *reply, pawl_str instructions, int64_t timeout_ns);
int32_t reply_set_args(pawl_reply *reply, pawl_str json);
int32_t reply_set_at(pawl_reply *reply, pawl_str pointer, pawl_str json);
int32_t reply_remove_at(pawl_reply *reply, pawl_str pointer);
void reply_grant(pawl_reply *reply);
void reply_tell(pawl_reply *reply, pawl_str text);
void reply_note(pawl_reply *reply, pawl_str key, pawl_str value);

#endif

/* writer-load.c - loads the writer's module, once.
 *
 * Layer: json.
 */
#include <config.h>

#include "json/write.h"

#include "base/module.h"

const struct json_writer *json_writer_get(struct error *err)
{
	static const struct json_writer *writer;
	if (!writer)
		writer = module_symbol("write.so", "pawl_json_writer", err);
	return writer;
}

/* isolated.h - the process a plugin has for itself: loads it, answers one question after
 * another, ends with its asker.
 *
 * Layer: core. It trusts its asker; its asker does not trust it: once the plugin is loaded
 * everything here is the plugin's.
 */
#ifndef PAWL_CORE_ISOLATED_H
#define PAWL_CORE_ISOLATED_H

/* `pawl-worker isolated`; never returns but with an exit status. */
int isolated_run(void);

#endif

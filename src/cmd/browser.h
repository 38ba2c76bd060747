/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens an address in the browser: with the program that $BROWSER names, else by xdg-open where there is a display.
 */
#ifndef MR_CMD_BROWSER_H
#define MR_CMD_BROWSER_H

/* The browser is left to itself, without our signals and output. Failing has a cause. */
int mr_browser_open(const char *url);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens an address in the browser, with the program that $BROWSER names, or with xdg-open if there is a display.
 */
#ifndef MR_CMD_BROWSER_H
#define MR_CMD_BROWSER_H

/* The browser runs on its own, without our signals and output. A failure has a cause. */
int mr_browser_open(const char *url);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * The runtime that does not exist.
 */
void example(void);

void example(void)
{
}

import { inject } from "vitest";
import type { PragmaUnderTestAccess } from "./pragma-under-test.ts";

/**
 * Returns access to the installation that test files share. A test file must read only data that the file has created,
 * and must not change global state. The installation has a fake legacy backoffice, and its rate limits and its limits
 * on webhooks and jobs are too high for a test to reach.
 */
export async function getSharedPragmaUnderTest(): Promise<PragmaUnderTestAccess> {
  const response = await fetch(inject("sharedProductUrl"));
  if (!response.ok) throw new Error(`The shared product did not start: ${await response.text()}`);
  return (await response.json()) as PragmaUnderTestAccess;
}

import { inject } from "vitest";
import type { ProductUnderTestAccess } from "./product-under-test.ts";

/**
 * Returns the product that test files share. Such files read only what they have created, and change no global state.
 * It has no rate limits, and it has a legacy backoffice.
 */
export async function getSharedProductUnderTest(): Promise<ProductUnderTestAccess> {
  const response = await fetch(inject("sharedProductUrl"));
  if (!response.ok) throw new Error(`The shared product did not start: ${await response.text()}`);
  return (await response.json()) as ProductUnderTestAccess;
}

import { inject } from "vitest";
import type { ProductUnderTestAccess } from "./product-under-test.ts";

/**
 * Returns the product that test files share. These files must read only data that they have created, and must change no
 * global state. The product has no rate limits, and it has a legacy backoffice.
 */
export async function getSharedProductUnderTest(): Promise<ProductUnderTestAccess> {
  const response = await fetch(inject("sharedProductUrl"));
  if (!response.ok) throw new Error(`The shared product did not start: ${await response.text()}`);
  return (await response.json()) as ProductUnderTestAccess;
}

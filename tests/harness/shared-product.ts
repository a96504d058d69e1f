import { inject } from "vitest";
import type { ProductAddress } from "./product-under-test.ts";

/**
 * The product that test files share which look at nothing but what they have created in it, and change nothing of its
 * own. It limits no location's rate of requests, and has a legacy backoffice.
 */
export async function sharedProduct(): Promise<ProductAddress> {
  const reply = await fetch(inject("sharedProductUrl"));
  if (!reply.ok) throw new Error(`The shared product did not start: ${await reply.text()}`);
  return (await reply.json()) as ProductAddress;
}

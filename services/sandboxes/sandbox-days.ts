import { type DemoDayWithTillId, listDemoDaysWithTillIds } from "@pragma/simulator/demo-location";
import type { SandboxWithLocation } from "./queries/sandboxes.ts";

/** The share of the orders of the demo's tills, so that a sandbox needs little space. */
export const sandboxTillShare = 0.4;

/** Returns the thirty days before a sandbox was created, newest first, with the ids of their tills. */
export function listSandboxDays({ locationId, createdAt }: Pick<SandboxWithLocation, "locationId" | "createdAt">) {
  return listDemoDaysWithTillIds(locationId, createdAt).reverse() as [DemoDayWithTillId, ...DemoDayWithTillId[]];
}

import { on } from "@pragma/runtime/subscription";
import type { Accounts } from "../accounts.ts";
import { noteDevice } from "../queries/locations.ts";

/** A device was at work at a location: it is shown with the location from now on. */
export const deviceSeen = on<Accounts, "device.seen">("device.seen", async ({ data, once }) => {
  await once((tx) => noteDevice(tx, data));
});

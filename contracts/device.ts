import { z } from "zod";
import { limitedText, withoutUnstorable } from "./fields.ts";

const longest = 255;

/** How many devices of a location are known: those that were seen last. */
export const maxDevices = 200;

/** A device as orders and tills name the one that they were made on. */
export const SeenDevice = z.object({
  deviceId: limitedText(longest, { min: 1 }),
  name: limitedText(longest).nullable(),
});

export type SeenDevice = z.infer<typeof SeenDevice>;

/**
 * The device that an order or till names; undefined when it names none, or by an id that is too long to be one. Names
 * are cut where they are too long, and what cannot be stored is left out.
 */
export function seenDevice(id: string | null, name: string | null): SeenDevice | undefined {
  const deviceId = withoutUnstorable(id ?? "").trim();
  if (deviceId === "" || deviceId.length > longest) return undefined;
  const shown = withoutUnstorable(withoutUnstorable(name ?? "").slice(0, longest)).trim();
  return { deviceId, name: shown || null };
}

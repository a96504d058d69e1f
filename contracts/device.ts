import { z } from "zod";
import { boundedString, stripUnstorableCharacters } from "./fields.ts";

const maxDeviceTextLength = 255;

/** How many devices of a location are known: those that were seen last. */
export const maxDevicesPerLocation = 200;

/** A device as orders and tills name the one that they were made on. */
export const SeenDevice = z.object({
  deviceId: boundedString(maxDeviceTextLength, { min: 1 }),
  name: boundedString(maxDeviceTextLength).nullable(),
});

export type SeenDevice = z.infer<typeof SeenDevice>;

/**
 * The device that an order or till names; undefined when it names none, or by an id that is too long to be one. Names
 * are cut where they are too long, and what cannot be stored is left out.
 */
export function parseSeenDevice(id: string | null, name: string | null): SeenDevice | undefined {
  const deviceId = stripUnstorableCharacters(id ?? "").trim();
  if (deviceId === "" || deviceId.length > maxDeviceTextLength) return undefined;
  const shown = stripUnstorableCharacters(stripUnstorableCharacters(name ?? "").slice(0, maxDeviceTextLength)).trim();
  return { deviceId, name: shown || null };
}

import { object, type z } from "zod";
import { boundedString, stripUnstorableCharacters } from "./fields.ts";

const maxDeviceTextLength = 255;

/** The maximum number of devices that are stored per location. Only the most recently used devices are stored. */
export const maxDevicesPerLocation = 200;

export const PosDeviceIdentity = object({
  deviceId: boundedString(maxDeviceTextLength, { min: 1 }),
  name: boundedString(maxDeviceTextLength).nullable(),
});

export type PosDeviceIdentity = z.infer<typeof PosDeviceIdentity>;

/**
 * Returns the device of an order or a till. Truncates a long name, and removes characters that PostgreSQL cannot store.
 * Returns undefined if the id is missing, blank or longer than 255 characters.
 */
export function parsePosDevice(id: string | null, name: string | null): PosDeviceIdentity | undefined {
  const deviceId = stripUnstorableCharacters(id ?? "").trim();
  if (deviceId === "" || deviceId.length > maxDeviceTextLength) return undefined;
  const storableName = stripUnstorableCharacters(
    stripUnstorableCharacters(name ?? "").slice(0, maxDeviceTextLength),
  ).trim();
  return { deviceId, name: storableName || null };
}

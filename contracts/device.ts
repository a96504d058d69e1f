import { z } from "zod";
import { boundedString, stripUnstorableCharacters } from "./fields.ts";

const maxDeviceTextLength = 255;

/** The maximum number of devices stored per location: the most recently seen ones. */
export const maxDevicesPerLocation = 200;

/** The device that an order or a till was recorded on. */
export const SeenDevice = z.object({
  deviceId: boundedString(maxDeviceTextLength, { min: 1 }),
  name: boundedString(maxDeviceTextLength).nullable(),
});

export type SeenDevice = z.infer<typeof SeenDevice>;

/**
 * Returns the device that an order or a till names, or undefined if it names none or its id is too long. Long names are
 * truncated, and characters that cannot be stored are removed.
 */
export function parsePosDevice(id: string | null, name: string | null): SeenDevice | undefined {
  const deviceId = stripUnstorableCharacters(id ?? "").trim();
  if (deviceId === "" || deviceId.length > maxDeviceTextLength) return undefined;
  const storableName = stripUnstorableCharacters(
    stripUnstorableCharacters(name ?? "").slice(0, maxDeviceTextLength),
  ).trim();
  return { deviceId, name: storableName || null };
}

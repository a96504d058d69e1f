import { createHash } from "node:crypto";
import { racePromiseWithAbort } from "@pragma/runtime/concurrency/race-promise-with-abort";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { ObjectNotFoundError } from "@pragma/runtime/object-store/object-store";
import type { ReportingContext } from "../../context.ts";
import type { PackedTillRow } from "../queries/packed-tills.ts";
import { DamagedBlockError } from "./pack-format.ts";

/** After this time, the till cannot change yet, and its event is handled later. */
const objectTimeoutMs = 30_000;
const secondReadDelayMs = 250;

let unreadableObjectCount = 0;

/** Returns how often this process found that the object of a packed till is missing or damaged. */
export const countUnreadableObjects = (): number => unreadableObjectCount;

/** Counts an error if it shows that an object is missing or damaged, and not only unavailable. */
export function countIfUnreadable(error: unknown): void {
  if (error instanceof ObjectNotFoundError || error instanceof DamagedBlockError) unreadableObjectCount += 1;
}

/** The error for a packed till whose object is missing or damaged. A retry fails again. */
export class UnreadablePackedTillError extends Error {
  override readonly name = "UnreadablePackedTillError";
  readonly till: PackedTillRow;

  constructor(till: PackedTillRow, reason: "missing" | "damaged") {
    const { objectKey, tillId, locationId } = till;
    super(`The object ${objectKey} of the packed till ${tillId} of the location ${locationId} is ${reason}.`);
    this.till = till;
  }
}

/**
 * Returns the bytes of the object of a packed till.
 *
 * @throws `UnreadablePackedTillError` if it is missing or damaged at two reads; other errors if the object store is
 * unavailable.
 */
export async function readPackedObject(
  objects: Pick<ReportingContext["objects"], "get">,
  till: PackedTillRow,
): Promise<Uint8Array> {
  const read = () =>
    racePromiseWithAbort(objects.get(till.objectKey), AbortSignal.timeout(objectTimeoutMs)).catch((error: unknown) => {
      if (!(error instanceof ObjectNotFoundError)) throw error;
    });
  const hasHash = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex") === till.hash;
  let bytes = await read();
  if (!bytes || !hasHash(bytes)) {
    await sleep(secondReadDelayMs);
    bytes = await read();
  }
  if (bytes && hasHash(bytes)) return bytes;
  unreadableObjectCount += 1;
  throw new UnreadablePackedTillError(till, bytes ? "damaged" : "missing");
}

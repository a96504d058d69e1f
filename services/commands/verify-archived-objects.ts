import { hash as computeHash } from "node:crypto";
import { isCompressedObjectKey } from "@pragma/runtime/object-store/compressed-store";
import { isObjectStoreKey } from "@pragma/runtime/object-store/store-interface";
import { computeObjectHash } from "./copy-objects.ts";
import { InvalidArchiveError } from "./location-archive.ts";
import { type ArchiveManifest, objectPart, parseArchivedJson } from "./location-manifest.ts";
import { archivedObjectColumns } from "./location-tables.ts";

/**
 * Returns 128 bits that identify a list of texts, so that sets of many of them need little memory: about 60 bytes for
 * each.
 */
export const computeFingerprint = (...texts: unknown[]): string =>
  computeHash("sha256", JSON.stringify(texts), "buffer").toString("latin1", 0, 16);

/** Checks that an archive contains exactly the objects to which its rows refer, and no object of another location. */
export function createObjectVerifier({ locationId, missingObjects }: ArchiveManifest) {
  /** The hashes of the objects, by key. */
  const hashes = new Map<string, string>();
  const unusedKeys = new Set<string>();
  const missingKeys = new Set(missingObjects.map((key) => computeFingerprint(key)));
  const unusedMissingKeys = new Set(missingKeys);
  for (const key of missingObjects) requireOwnKey(key, ["tills", "packed"]);

  function requireOwnKey(key: unknown, folders: string[]): asserts key is string {
    const isOwn =
      typeof key === "string" &&
      isObjectStoreKey(key) &&
      folders.some((folder) => key.startsWith(`${folder}/${locationId}/`));
    if (!isOwn) throw new InvalidArchiveError(`The archive names an object that is not the location's: ${key}.`);
  }

  return {
    /** Checks the object in a line of the archive. @throws `InvalidArchiveError` */
    async addObject(json: string): Promise<void> {
      const { key, hash, stored } = parseArchivedJson(objectPart, json);
      requireOwnKey(key, ["tills", "packed"]);
      const id = computeFingerprint(key);
      if (typeof hash !== "string" || typeof stored !== "string" || hashes.has(id) || missingKeys.has(id))
        throw new InvalidArchiveError(`The object ${key} of the archive is not valid, or is in it twice.`);
      const encoding = isCompressedObjectKey(key) ? "br" : undefined;
      if ((await computeObjectHash(Buffer.from(stored, "base64"), encoding)) !== hash)
        throw new InvalidArchiveError(`The object ${key} of the archive does not have its hash, or is too large.`);
      hashes.set(id, computeFingerprint(hash));
      unusedKeys.add(id);
    },
    /** Checks the object to which a row refers, if it refers to one. @throws `InvalidArchiveError` */
    verifyRow(part: string, row: Record<string, unknown>): void {
      const column = archivedObjectColumns[part];
      if (!column) return;
      const { object_key: key, hash } = row;
      requireOwnKey(key, [column.folder]);
      if (!column.hasObject(row)) return;
      const id = computeFingerprint(key);
      unusedKeys.delete(id);
      unusedMissingKeys.delete(id);
      if (missingKeys.has(id) || hashes.get(id) === computeFingerprint(hash)) return;
      throw new InvalidArchiveError(
        hashes.has(id)
          ? `A row of ${part} in the archive has another hash than its object ${key}.`
          : `The archive lacks the object ${key}, to which a row of ${part} refers.`,
      );
    },
    /** Checks that rows refer to all objects. @throws `InvalidArchiveError` */
    finish(): void {
      if (unusedKeys.size + unusedMissingKeys.size > 0)
        throw new InvalidArchiveError(
          `The archive names ${unusedKeys.size + unusedMissingKeys.size} objects to which none of its rows refers.`,
        );
    },
  };
}

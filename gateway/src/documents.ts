import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { packageFolder } from "@pragma/runtime/package-folder";
import { entityTagOf } from "@pragma/runtime/reply";

/** A text that is served as it is, and the entity tag that tells its versions apart. */
export interface ServedDocument {
  /** Shared by all responses. */
  body: Buffer;
  etag: string;
}

/** The OpenAPI documents: what partners and POS apps use, and everything. */
export type Documents = Awaited<ReturnType<typeof readDocuments>>;

const contractsFolder = packageFolder(import.meta.resolve("@pragma/contracts/errors"));

/** Reads the documents that `npm run openapi` wrote; rejects with a clear message when they are not there. */
export async function readDocuments(folder = contractsFolder) {
  const [openapi, full] = await Promise.all([
    readDocument(join(folder, "openapi.json")),
    readDocument(join(folder, "openapi.full.json")),
  ]);
  return { openapi, full };
}

async function readDocument(path: string): Promise<ServedDocument> {
  try {
    return servedDocument(await readFile(path, "utf8"));
  } catch (cause) {
    throw new Error(`${path} cannot be read. Make it with \`npm run openapi\`.`, { cause });
  }
}

export function servedDocument(body: string): ServedDocument {
  return { body: Buffer.from(body), etag: entityTagOf(body) };
}

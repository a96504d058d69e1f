import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { computeEntityTag } from "@pragma/runtime/http/route-response";
import { findPackageFolder } from "@pragma/runtime/process/package-folder";

/** A text that is served as it is, and the entity tag that tells its versions apart. */
export interface ServedDocument {
  /** Shared by all responses. */
  body: Buffer;
  etag: string;
}

/** The OpenAPI documents: what partners and POS apps use, and everything. */
export type OpenApiDocuments = Awaited<ReturnType<typeof readOpenApiDocuments>>;

const contractsFolder = findPackageFolder(import.meta.resolve("@pragma/contracts/errors"));

/** Reads the documents that `npm run openapi` wrote; rejects with a clear message when they are not there. */
export async function readOpenApiDocuments(folder = contractsFolder) {
  const [openapi, full] = await Promise.all([
    readServedDocument(join(folder, "openapi.json")),
    readServedDocument(join(folder, "openapi.full.json")),
  ]);
  return { openapi, full };
}

async function readServedDocument(path: string): Promise<ServedDocument> {
  try {
    return createServedDocument(await readFile(path, "utf8"));
  } catch (cause) {
    throw new Error(`${path} cannot be read. Make it with \`npm run openapi\`.`, { cause });
  }
}

export function createServedDocument(body: string): ServedDocument {
  return { body: Buffer.from(body), etag: computeEntityTag(body) };
}

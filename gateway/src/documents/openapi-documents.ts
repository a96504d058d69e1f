import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { computeEntityTag } from "@pragma/runtime/http/route-response";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";

/** An OpenAPI document that the gateway serves, with its entity tag. */
export interface OpenApiDocumentWithEtag {
  /** The document as bytes. Do not modify this buffer, because all responses share it. */
  body: Buffer;
  etag: string;
}

/** The OpenAPI documents: `openapi` for partners and POS apps, and `full`, which also contains operator operations. */
export type OpenApiDocuments = Awaited<ReturnType<typeof readServedOpenApiDocuments>>;

const contractsFolder = findEnclosingPackageFolder(import.meta.resolve("@pragma/contracts/errors"));

/** Reads the documents that `npm run openapi` generates. @throws `Error` that names a missing document. */
export async function readServedOpenApiDocuments(folder = contractsFolder) {
  const [openapi, full] = await Promise.all([
    readServedDocument(join(folder, "openapi.json")),
    readServedDocument(join(folder, "openapi.full.json")),
  ]);
  return { openapi, full };
}

async function readServedDocument(path: string): Promise<OpenApiDocumentWithEtag> {
  try {
    return encodeOpenApiDocumentWithEtag(await readFile(path, "utf8"));
  } catch (cause) {
    throw new Error(`${path} cannot be read. Generate it with \`npm run openapi\`.`, { cause });
  }
}

export function encodeOpenApiDocumentWithEtag(body: string): OpenApiDocumentWithEtag {
  return { body: Buffer.from(body), etag: computeEntityTag(body) };
}

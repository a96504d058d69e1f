import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { defaultDocsUrl, publishedApiUrl } from "@pragma/contracts/published-urls";
import { computeEntityTag } from "@pragma/runtime/http/route-response";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";

/** An OpenAPI or AsyncAPI document that the gateway serves, with its entity tag. */
export interface ApiDocumentWithEtag {
  /** The document as bytes. Do not modify this buffer, because all responses share it. */
  body: Buffer;
  etag: string;
}

/**
 * The OpenAPI documents, `openapi` for partners and POS apps, and `full`, which also contains operator operations; and
 * the AsyncAPI document of the webhooks, `asyncapi`.
 */
export type ApiDocuments = Awaited<ReturnType<typeof readServedApiDocuments>>;

const contractsFolder = join(findEnclosingPackageFolder(import.meta.url), "..", "contracts");

/**
 * Reads the documents that `npm run openapi` generates. The URLs of the installation replace the published ones.
 *
 * @throws `Error` that names a missing document.
 */
export async function readServedApiDocuments(
  { publicUrl = publishedApiUrl, docsUrl = defaultDocsUrl }: { publicUrl?: string | undefined; docsUrl?: string } = {},
  folder = contractsFolder,
) {
  const read = async (name: string): Promise<ApiDocumentWithEtag> => {
    const path = join(folder, name);
    const text = await readFile(path, "utf8").catch((cause) => {
      throw new Error(`${path} cannot be read. Generate it with \`npm run openapi\`.`, { cause });
    });
    const body = text.replaceAll(defaultDocsUrl, docsUrl).replaceAll(publishedApiUrl, publicUrl);
    return { body: Buffer.from(body), etag: computeEntityTag(body) };
  };
  const openapi = await read("openapi.json");
  return { openapi, full: await read("openapi.full.json"), asyncapi: await read("asyncapi.json") };
}

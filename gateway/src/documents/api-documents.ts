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

/** The URLs of the installation, which replace the published URLs in the documents. */
interface InstallationUrls {
  /** The URL of the API. By default, the documents keep the published URL. */
  publicUrl?: string | undefined;
  docsUrl?: string;
}

/** Reads the documents that `npm run openapi` generates. @throws `Error` that names a missing document. */
export async function readServedApiDocuments(urls: InstallationUrls = {}, folder = contractsFolder) {
  const [openapi, full, asyncapi] = await Promise.all([
    readServedDocument(join(folder, "openapi.json"), urls),
    readServedDocument(join(folder, "openapi.full.json"), urls),
    readServedDocument(join(folder, "asyncapi.json"), urls),
  ]);
  return { openapi, full, asyncapi };
}

async function readServedDocument(
  path: string,
  { publicUrl, docsUrl = defaultDocsUrl }: InstallationUrls,
): Promise<ApiDocumentWithEtag> {
  try {
    const text = (await readFile(path, "utf8")).replaceAll(defaultDocsUrl, docsUrl);
    const apiUrl = publicUrl === undefined ? publishedApiUrl : new URL(publicUrl).origin;
    return encodeApiDocumentWithEtag(text.replaceAll(publishedApiUrl, apiUrl));
  } catch (cause) {
    throw new Error(`${path} cannot be read. Generate it with \`npm run openapi\`.`, { cause });
  }
}

export function encodeApiDocumentWithEtag(body: string): ApiDocumentWithEtag {
  return { body: Buffer.from(body), etag: computeEntityTag(body) };
}

import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { Admission } from "@pragma/runtime/admission/admission";
import { locationLimits } from "@pragma/runtime/admission/limits";
import { getSenderId } from "@pragma/runtime/http/request-identity";
import {
  createNotModifiedResponse,
  type ResponseHeaders,
  revalidationHeaders,
  streamAfterFirstChunk,
} from "@pragma/runtime/http/route-response";
import { ObjectNotFoundError } from "@pragma/runtime/object-store/object-store";
import type { ReportingContext } from "../context.ts";
import { type FileRange, parseFileRange } from "./parse-range.ts";

/** A file of an export: its object, or the bytes themselves. */
export interface DownloadedFile {
  name: string;
  size: number;
  etag: string;
  contentType: string;
  content: { objectKey: string } | { bytes: Uint8Array };
  hasRanges: boolean;
}

/**
 * Returns a response with a file, or the requested range of it. Its bytes are read only when the client can receive them.
 *
 * @throws `ApiError` range_not_satisfiable, and `notFoundError` if the object was deleted.
 */
export async function createFileResponse(
  { objects }: Pick<ReportingContext, "objects">,
  { name, size, etag, contentType, content, hasRanges }: DownloadedFile,
  {
    principal,
    header,
    notFoundError,
  }: { principal: Principal; header(name: string): string | undefined; notFoundError: ApiError },
) {
  const unchanged = createNotModifiedResponse({ etag, ifNoneMatch: header("if-none-match") });
  if (unchanged) return unchanged;
  const range = hasRanges ? parseFileRange(header("range"), { ifRange: header("if-range"), etag, size }) : null;
  if (range === "unsatisfiable") {
    throw new ApiError("range_not_satisfiable", {
      detail: `The file has ${size} bytes.`,
      headers: { "content-range": `bytes */${size}` },
    });
  }
  const { start, end } = range ?? { start: 0, end: size };
  const chunks = readChunks(objects, content, { start, end, senderId: getSenderId(principal) });
  const body = await streamAfterFirstChunk(chunks).catch((error: unknown) => {
    throw error instanceof ObjectNotFoundError ? notFoundError : error;
  });
  const headers: ResponseHeaders = {
    ...revalidationHeaders,
    "accept-ranges": hasRanges ? "bytes" : "none",
    etag: `"${etag}"`,
    "content-type": contentType,
    "content-disposition": `attachment; filename="${name}"`,
    "content-length": String(end - start),
    ...(range && { "content-range": `bytes ${start}-${end - 1}/${size}` }),
  };
  return {
    ...{ status: range ? 206 : 200, headers, body },
    streamMemoryBytes: Math.min(end - start, 2 * chunkBytes),
  };
}

/** The number of bytes that are read from the object store at a time. */
const chunkBytes = 1024 * 1024;

const fileReads = new Admission(locationLimits.exportFileReads);

/** Yields a range of a file in chunks. Reads a chunk only when the client can receive it. */
async function* readChunks(
  objects: ReportingContext["objects"],
  content: DownloadedFile["content"],
  { start, end, senderId }: FileRange & { senderId: string },
): AsyncGenerator<Uint8Array> {
  if ("bytes" in content) {
    yield content.bytes.subarray(start, end);
    return;
  }
  const { objectKey } = content;
  for (let offset = start; offset < end; ) {
    const range = { start: offset, end: Math.min(end, offset + chunkBytes) };
    const chunk = await fileReads.run(() => objects.getStoredRange(objectKey, range), senderId);
    if (chunk.byteLength === 0) throw new Error(`The object ${objectKey} is too short.`);
    yield chunk;
    offset += chunk.byteLength;
  }
}

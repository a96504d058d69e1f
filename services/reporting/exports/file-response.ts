import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { Admission } from "@pragma/runtime/admission/admission";
import { locationLimits } from "@pragma/runtime/admission/limits";
import { getSenderId } from "@pragma/runtime/http/request-identity";
import {
  createNotModifiedResponse,
  createTaggedJsonResponse,
  type ResponseHeaders,
  type RouteHandlerResponse,
  revalidationHeaders,
  streamAfterFirstChunk,
} from "@pragma/runtime/http/route-response";
import { ObjectNotFoundError } from "@pragma/runtime/object-store/object-store";
import type { ReportingContext } from "../context.ts";

/** The headers of responses about an export that is in progress. */
export const unfinishedExportHeaders = { "retry-after": "2" };

const unfinishedStates = ["queued", "pending", "running"];

/** Returns a response with an export, which clients read again until it has ended. */
export function createExportStateResponse(
  body: { state: string },
  header: (name: string) => string | undefined,
): RouteHandlerResponse {
  const response = createTaggedJsonResponse(JSON.stringify(body), { ifNoneMatch: header("if-none-match") });
  if (!unfinishedStates.includes(body.state)) return response;
  return { ...response, headers: { ...response.headers, ...unfinishedExportHeaders } };
}

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
  request: { principal: Principal; header(name: string): string | undefined; notFoundError: ApiError },
) {
  const { principal, header, notFoundError } = request;
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

/** The bytes of a file from offset `start` to before offset `end`. */
interface FileRange {
  start: number;
  end: number;
}

/**
 * Returns the requested range of a file, or `unsatisfiable`; null for the whole file, also if the header is invalid or has
 * several ranges (RFC 9110, section 14.2), or if the `If-Range` header is not the entity tag of the file.
 */
function parseFileRange(
  header: string | undefined,
  { ifRange, etag, size }: { ifRange: string | undefined; etag: string; size: number },
): FileRange | "unsatisfiable" | null {
  if (ifRange !== undefined && ifRange !== `"${etag}"`) return null;
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header?.replaceAll(/\s/g, "") ?? "");
  const [, first = "", last = ""] = match ?? [];
  if (first === "" && last === "") return null;
  if (first === "") {
    const suffix = Math.min(Number(last), size);
    return suffix === 0 ? "unsatisfiable" : { start: size - suffix, end: size };
  }
  const start = Number(first);
  const end = last === "" ? size : Math.min(Number(last) + 1, size);
  if (last !== "" && Number(last) < start) return null;
  return start >= size ? "unsatisfiable" : { start, end };
}

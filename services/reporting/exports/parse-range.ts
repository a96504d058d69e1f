/** The bytes of a file from offset `start` to before offset `end`. */
export interface FileRange {
  start: number;
  end: number;
}

/**
 * Returns the requested range of a file, `unsatisfiable` if it begins after the end of the file, or null for the whole
 * file: without a `Range` header, and if the header is invalid or has several ranges, which a server may ignore (RFC 9110,
 * section 14.2). `ifRange` is the `If-Range` header. If it is not the entity tag of the file, the whole file is returned.
 */
export function parseFileRange(
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

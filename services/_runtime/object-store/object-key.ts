/** Leaves room for as long a prefix within the 1024 bytes that S3 allows. */
const longestKey = 500;
/** What Linux and macOS allow for one name. */
const longestSegment = 255;
const segmentPattern = /^[A-Za-z0-9._-]+$/;

/** Whether a text is an object key: segments of `A-Z a-z 0-9 . _ -` joined by single slashes, none of them `.` or `..`. */
export function isObjectKey(text: string): boolean {
  return text.length <= longestKey && text.split("/").every(isSegment);
}

/** Throws a TypeError for what is not an object key. */
export function assertObjectKey(key: string): void {
  if (!isObjectKey(key)) throw new TypeError(`not an object key: ${JSON.stringify(key.slice(0, longestKey))}`);
}

function isSegment(segment: string): boolean {
  return segmentPattern.test(segment) && segment.length <= longestSegment && segment !== "." && segment !== "..";
}

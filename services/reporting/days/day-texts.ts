import { deflateSync, inflateSync } from "node:zlib";
import { dayDictionary } from "./day-dictionary.ts";

const dictionary = Buffer.from(dayDictionary);

/**
 * Compresses the text of a day, or the figures of a till, in zlib's format. Most of a day are the names and descriptions of
 * its checks, which are in the preset dictionary, so that less than a tenth is left. Takes less than 0.1 ms.
 */
export function compressDayText(text: string): Uint8Array {
  return new Uint8Array(deflateSync(text, { memLevel: 5, chunkSize: 4 * 1024, dictionary }));
}

/** Returns the text that `compressDayText` compressed. @throws Error when the bytes are damaged. */
export function decompressDayText(compressed: Uint8Array): string {
  return inflateSync(compressed, { dictionary }).toString();
}

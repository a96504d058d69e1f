import { promisify } from "node:util";
import { brotliCompress, brotliDecompress, constants } from "node:zlib";

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);

/** Packed tills are written once and kept for years, so they are compressed better than bodies that were just pushed. */
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

/**
 * The limits of a block of orders. A larger block compresses better, and a smaller one is read faster. Most shifts fit
 * into one block.
 */
export const maxOrdersPerBlock = 150;
export const maxBlockTextBytes = 2 * 1024 * 1024;

/** The JSON texts of an order: the responses of both API versions. */
export interface PackedOrderTexts {
  v1: Buffer;
  v2: Buffer;
}

/** The JSON texts of a report, as in the columns of `reports`. */
export interface PackedReportTexts {
  v2: string;
  v0: string;
  accountingFacts: string | null;
  finalized: string;
}

/**
 * Encodes texts as a block: a line with the sizes of the texts in bytes as a JSON array, then the texts. The size of a
 * missing text is -1. The block is compressed by Brotli.
 */
async function encodeBlock(texts: (Buffer | null)[]): Promise<Buffer> {
  const sizes = texts.map((text) => text?.byteLength ?? -1);
  const line = Buffer.from(`${JSON.stringify(sizes)}\n`);
  const block = Buffer.concat([line, ...texts.flatMap((text) => text ?? [])]);
  const compressed = await compress(block, brotliOptions);
  if (!block.equals(await decompress(compressed))) throw new Error("A block was not compressed correctly.");
  return compressed;
}

/** @throws Error when the block is damaged. */
async function decodeBlock(block: Uint8Array): Promise<(Buffer | null)[]> {
  const bytes = await decompress(block);
  const lineEnd = bytes.indexOf("\n");
  const sizes = JSON.parse(bytes.toString("utf8", 0, lineEnd)) as number[];
  let start = lineEnd + 1;
  const texts = sizes.map((size) => {
    if (size < 0) return null;
    start += size;
    return bytes.subarray(start - size, start);
  });
  if (start !== bytes.byteLength) throw new Error("A packed block does not have the size of its texts.");
  return texts;
}

export function encodeReportBlock({ v2, v0, accountingFacts, finalized }: PackedReportTexts): Promise<Buffer> {
  return encodeBlock([v2, v0, accountingFacts, finalized].map((text) => (text === null ? null : Buffer.from(text))));
}

export async function decodeReportBlock(block: Uint8Array): Promise<PackedReportTexts> {
  const [v2, v0, accountingFacts = null, finalized] = await decodeBlock(block);
  if (!v2 || !v0 || !finalized) throw new Error("A packed report is incomplete.");
  return {
    v2: `${v2}`,
    v0: `${v0}`,
    accountingFacts: accountingFacts && `${accountingFacts}`,
    finalized: `${finalized}`,
  };
}

/** The responses of an order are next to each other, because they have most of their text in common. */
export function encodeOrderBlock(orders: PackedOrderTexts[]): Promise<Buffer> {
  return encodeBlock(orders.flatMap(({ v1, v2 }) => [v1, v2]));
}

export async function decodeOrderBlock(block: Uint8Array): Promise<PackedOrderTexts[]> {
  const texts = await decodeBlock(block);
  return Array.from({ length: texts.length / 2 }, (_, position) => {
    const [v1, v2] = texts.slice(position * 2);
    if (!v1 || !v2) throw new Error("A packed order is incomplete.");
    return { v1, v2 };
  });
}

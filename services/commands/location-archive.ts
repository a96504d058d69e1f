import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { PassThrough } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CompressionStream, DecompressionStream, ReadableStream, TextEncoderStream } from "node:stream/web";
import { Decrypter, Encrypter } from "age-encryption";

/*
 * An archive is a file in the format of age (age-encryption.org), encrypted with a passphrase. Its content are lines,
 * compressed with gzip. So the programs `age` and `gunzip` can read it, too.
 */

/**
 * The cost of deriving a key from the passphrase, as a power of 2. Less than the default of 18, because the passphrase
 * has at least 32 characters.
 */
const passphraseCost = 15;

/**
 * The maximum length of a line, which is held in memory. A body of 50 MB has 67 million characters, and the largest
 * value that PostgreSQL can convert to JSON has fewer than 256 MiB.
 */
const maxLineBytes = 268_435_456;

/** More than the header of an archive has. */
const maxHeaderBytes = 1_024;

const maxMessageLength = 4_000;

/** The error for an archive that is damaged, incomplete, encrypted with another key, or contains what it must not. */
export class InvalidArchiveError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    // Messages quote values of the archive, which must not control the operator's terminal.
    super(message.replaceAll(/[^\P{Cc}\n]/gu, " ").slice(0, maxMessageLength), options);
  }
}

/** @throws `Error` if no archive can be written to this path. */
export async function requireWritableArchivePath(file: string): Promise<void> {
  if ((await stat(file).catch(() => undefined))?.isDirectory())
    throw new Error(`--output must name a file, but ${file} is a folder.`);
  const folder = dirname(file);
  if (!(await stat(folder).catch(() => undefined))?.isDirectory())
    throw new Error(`The folder ${folder} of --output does not exist.`);
  const partial = `${file}.partial`;
  try {
    await (await open(partial, "w", 0o600)).close();
    await rm(partial);
  } catch (cause) {
    throw new Error(`${file} cannot be written: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

/** Writes lines to a new encrypted file, which exists under its name only once it is complete. */
export async function writeLocationArchive(file: string, key: string, lines: AsyncIterable<string>): Promise<void> {
  const encrypter = new Encrypter();
  encrypter.setPassphrase(key);
  encrypter.setScryptWorkFactor(passphraseCost);
  const partial = `${file}.partial`;
  const handle = await open(partial, "w", 0o600);
  try {
    const compressed = ReadableStream.from(lines)
      .pipeThrough(new TextEncoderStream())
      .pipeThrough(new CompressionStream("gzip"));
    await pipeline(
      await encrypter.encrypt(compressed as globalThis.ReadableStream<Uint8Array>),
      handle.createWriteStream({ flush: true }),
    );
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** Yields the lines of an archive. @throws `InvalidArchiveError` */
export async function* readLocationArchive(file: string, key: string): AsyncGenerator<string> {
  const handle = await openArchive(file);
  const output = new PassThrough();
  const readContent = async () => {
    const decrypter = await createDecrypter(handle, key);
    const encrypted = handle.readableWebStream({ type: "bytes" }) as globalThis.ReadableStream<Uint8Array>;
    const compressed = await decrypter.decrypt(encrypted);
    await pipeline(compressed.pipeThrough(new DecompressionStream("gzip")), output);
  };
  // The lines end at an error. `reading` then rejects.
  const reading = readContent().finally(() => output.end());
  reading.catch(() => {});
  try {
    const isComplete = yield* splitLines(output);
    await reading;
    if (!isComplete) throw new InvalidArchiveError("The archive is damaged or incomplete.");
  } catch (error) {
    throw toArchiveError(error);
  } finally {
    output.destroy();
    await handle.close();
  }
}

/**
 * The header that was decrypted last. An import reads its archive up to six times, and would otherwise derive the same
 * key from the passphrase each time, which takes longer than reading a small archive.
 */
let lastHeader: { passphrase: string; bytes: Buffer; fileKey: Uint8Array } | undefined;

/** Returns a decrypter of this file. @throws `Error` if the header is invalid, or was encrypted with another passphrase. */
async function createDecrypter(handle: FileHandle, passphrase: string): Promise<Decrypter> {
  const decrypter = new Decrypter();
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(maxHeaderBytes), 0, maxHeaderBytes, 0);
  const start = buffer.subarray(0, bytesRead);
  const lastLine = start.indexOf("\n--- ") + 1;
  const bytes = lastLine === 0 ? undefined : start.subarray(0, start.indexOf(lineEnd, lastLine) + 1);
  if (bytes === undefined || bytes.length === 0) {
    // The file is not an archive, which `decrypt` reports.
    decrypter.addPassphrase(passphrase);
    return decrypter;
  }
  if (lastHeader?.passphrase !== passphrase || !lastHeader.bytes.equals(bytes)) {
    const headerDecrypter = new Decrypter();
    headerDecrypter.addPassphrase(passphrase);
    lastHeader = { passphrase, bytes, fileKey: await headerDecrypter.decryptHeader(bytes) };
  }
  const { fileKey } = lastHeader;
  decrypter.addIdentity({ unwrapFileKey: () => fileKey });
  return decrypter;
}

async function openArchive(file: string) {
  const isFolder = await stat(file).then(
    (found) => found.isDirectory(),
    (cause) => {
      throw new InvalidArchiveError(
        cause.code === "ENOENT"
          ? `The file ${file} does not exist.`
          : `The file ${file} cannot be read: ${cause.message}`,
        { cause },
      );
    },
  );
  if (isFolder) throw new InvalidArchiveError(`${file} is a folder, not an archive.`);
  return open(file).catch((cause) => {
    throw new InvalidArchiveError(`The file ${file} cannot be read: ${cause.message}`, { cause });
  });
}

/** Yields lines without their ends. Returns whether the last line has an end. @throws `InvalidArchiveError` */
async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string, boolean> {
  let parts: Buffer[] = [];
  let bytes = 0;
  const add = (part: Buffer) => {
    parts.push(part);
    bytes += part.byteLength;
    if (bytes > maxLineBytes) throw new InvalidArchiveError("A line of the archive is too long.");
  };
  const takeLine = () => {
    const line = Buffer.concat(parts).toString();
    parts = [];
    bytes = 0;
    return line;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(lineEnd); end !== -1; end = chunk.indexOf(lineEnd, start)) {
      add(chunk.subarray(start, end));
      start = end + 1;
      yield takeLine();
    }
    if (start < chunk.byteLength) add(chunk.subarray(start));
  }
  return bytes === 0;
}

const lineEnd = "\n".charCodeAt(0);

function toArchiveError(cause: unknown): InvalidArchiveError {
  if (cause instanceof InvalidArchiveError) return cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  if (message.startsWith("no identity matched"))
    return new InvalidArchiveError("LOCATION_ARCHIVE_KEY is not the key with which the archive was exported.", {
      cause,
    });
  if (message.startsWith("invalid version"))
    return new InvalidArchiveError("The file is not an archive of a location.", { cause });
  return new InvalidArchiveError("The archive is damaged or incomplete.", { cause });
}

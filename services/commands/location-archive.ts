import { open, rename, rm } from "node:fs/promises";
import { createInterface } from "node:readline";
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

/** The error for an archive that is damaged, incomplete, or encrypted with another key. */
export class InvalidArchiveError extends Error {}

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
  const handle = await open(file);
  const decrypter = new Decrypter();
  decrypter.addPassphrase(key);
  const output = new PassThrough();
  const readContent = async () => {
    const encrypted = handle.readableWebStream({ type: "bytes" }) as globalThis.ReadableStream<Uint8Array>;
    const compressed = await decrypter.decrypt(encrypted);
    await pipeline(compressed.pipeThrough(new DecompressionStream("gzip")), output);
  };
  // The lines end at an error. `reading` then rejects.
  const reading = readContent().finally(() => output.end());
  reading.catch(() => {});
  try {
    yield* createInterface({ input: output, crlfDelay: Number.POSITIVE_INFINITY });
    await reading;
  } catch (error) {
    throw toArchiveError(error);
  } finally {
    output.destroy();
    await handle.close();
  }
}

function toArchiveError(cause: unknown): InvalidArchiveError {
  const message = cause instanceof Error ? cause.message : String(cause);
  if (message.startsWith("no identity matched"))
    return new InvalidArchiveError("LOCATION_ARCHIVE_KEY is not the key with which the archive was exported.", {
      cause,
    });
  if (message.startsWith("invalid version"))
    return new InvalidArchiveError("The file is not an archive of a location.", { cause });
  return new InvalidArchiveError("The archive is damaged or incomplete.", { cause });
}

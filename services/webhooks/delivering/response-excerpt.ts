const mostRead = 64 * 1_024;
const mostKept = 20 * 1_024;

/** What is kept of a response's body: the first 20 KB, as text. No more than 64 KB of it is read. */
export class ResponseExcerpt {
  readonly #kept: Buffer[] = [];
  #read = 0;

  /** Takes what came; says whether more is wanted. */
  add(chunk: Buffer): boolean {
    const room = mostKept - this.#read;
    if (room > 0) this.#kept.push(chunk.subarray(0, room));
    this.#read += chunk.length;
    return this.#read < mostRead;
  }

  text(): string {
    // The one character of UTF-8 that PostgreSQL does not store.
    return Buffer.concat(this.#kept).toString("utf8").replaceAll("\0", "\ufffd");
  }
}

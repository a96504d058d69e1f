import { parseReplyHead, type ReplyHead } from "./reply-head.ts";

/** Who hears a reply as it comes in. */
export interface ReplyListener {
  onHead(head: ReplyHead): void;
  /** A part of the body. It is good for as long as the bytes that were given to the reader. */
  onBody(part: Buffer, isLast: boolean): void;
  onEnd(): void;
}

type Expecting =
  | "head"
  | "counted"
  | "chunk size"
  | "chunk"
  | "chunk end"
  | "trailers"
  | "end of connection"
  | "nothing";

const mostHeadBytes = 64 * 1024;
const lineEnd = "\r\n";
const headEnd = `${lineEnd}${lineEnd}`;

/**
 * Reads the replies of services from one connection (HTTP/1.1, RFC 9112). It copies nothing of a body: what it tells of
 * are views of the bytes that it is given.
 *
 * Our own services are its other side: it is exact about where a reply ends, and throws at the first thing that it does
 * not understand; it does not put up with what servers elsewhere may send.
 */
export class ReplyReader {
  #expecting: Expecting = "nothing";
  #listener: ReplyListener | undefined;
  #isToHead = false;
  /** Bytes still to come of the body, or of the chunk. */
  #left = 0;
  /** The beginning of a head or a line whose end has not come. */
  #begun: Buffer | undefined;
  #isKept = true;

  /** Whether the connection can be asked again: the reply was whole, and the service keeps it open. */
  get isReusable(): boolean {
    return this.#expecting === "nothing" && this.#isKept;
  }

  /** The reply to the next request; to a HEAD request it has no body whatever its headers say. */
  expectReply(isToHead: boolean, listener: ReplyListener): void {
    this.#expecting = "head";
    this.#isToHead = isToHead;
    this.#listener = listener;
  }

  /** @throws Error when the bytes are no reply, or more than was asked for. */
  read(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) at = this.#readAt(bytes, at);
  }

  /** The connection has ended. @returns whether that was the end of the reply, too. */
  readEnd(): boolean {
    this.#isKept = false;
    if (this.#expecting !== "end of connection") return false;
    this.#end();
    return true;
  }

  #readAt(bytes: Buffer, at: number): number {
    switch (this.#expecting) {
      case "head":
        return this.#through(headEnd, bytes, at, (head) => this.#readHead(head));
      case "counted":
        return this.#readCounted(bytes, at);
      case "chunk size":
        return this.#through(lineEnd, bytes, at, (line) => this.#readChunkSize(line));
      case "chunk":
        return this.#readChunk(bytes, at);
      case "chunk end":
        return this.#through(lineEnd, bytes, at, (rest) => {
          if (rest !== "") throw new Error("A chunk of the service's reply is longer than it says.");
          this.#expecting = "chunk size";
        });
      case "trailers":
        return this.#through(lineEnd, bytes, at, (line) => {
          if (line === "") this.#end();
        });
      case "end of connection":
        this.#listener?.onBody(bytes.subarray(at), false);
        return bytes.length;
      case "nothing":
        throw new Error("The service said more than it was asked.");
    }
  }

  /**
   * Takes the text up to a mark, which is an end of a line or two, and without the last of them, once all of it is
   * there; keeps a copy of what is until then.
   */
  #through(mark: string, bytes: Buffer, at: number, take: (text: string) => void): number {
    if (this.#begun) {
      const before = this.#begun.length;
      const all = Buffer.concat([this.#begun, bytes.subarray(at)]);
      this.#begun = undefined;
      return at + this.#through(mark, all, 0, take) - before;
    }
    const end = bytes.indexOf(mark, at, "latin1");
    if (end - at > mostHeadBytes || (end === -1 && bytes.length - at > mostHeadBytes)) {
      throw new Error("The head of the service's reply is too large.");
    }
    if (end === -1) {
      this.#begun = Buffer.from(bytes.subarray(at));
      return bytes.length;
    }
    const next = end + mark.length;
    take(bytes.toString("latin1", at, next - lineEnd.length));
    return next;
  }

  #readHead(text: string): void {
    const head = parseReplyHead(text);
    const { status, length } = head;
    if (status < 200) {
      if (status === 101) throw new Error("The service wants to speak another protocol.");
      return;
    }
    const hasBody = !this.#isToHead && status !== 204 && status !== 304;
    this.#isKept = !head.isLast;
    this.#listener?.onHead(head);
    if (!hasBody) this.#end();
    else if (head.isChunked) this.#expecting = "chunk size";
    else if (length === undefined) this.#expecting = "end of connection";
    else if (length === 0) this.#end();
    else {
      this.#expecting = "counted";
      this.#left = length;
    }
  }

  #readCounted(bytes: Buffer, at: number): number {
    const part = this.#take(bytes, at);
    this.#listener?.onBody(part, this.#left === 0);
    if (this.#left === 0) this.#end();
    return at + part.length;
  }

  #readChunk(bytes: Buffer, at: number): number {
    const part = this.#take(bytes, at);
    this.#listener?.onBody(part, false);
    if (this.#left === 0) this.#expecting = "chunk end";
    return at + part.length;
  }

  #take(bytes: Buffer, at: number): Buffer {
    const part = bytes.subarray(at, Math.min(bytes.length, at + this.#left));
    this.#left -= part.length;
    return part;
  }

  #readChunkSize(line: string): void {
    const size = /^[0-9a-f]{1,8}(?=\s*(?:;|$))/i.exec(line)?.[0];
    if (size === undefined) throw new Error("A chunk of the service's reply has no size.");
    this.#left = Number.parseInt(size, 16);
    this.#expecting = this.#left === 0 ? "trailers" : "chunk";
  }

  #end(): void {
    this.#expecting = "nothing";
    const listener = this.#listener;
    this.#listener = undefined;
    listener?.onEnd();
  }
}

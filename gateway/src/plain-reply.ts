import { EventEmitter } from "node:events";
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { ClientReply, LineFacts } from "./client-side.ts";
import { linesOf } from "./header-lines.ts";
import { prepend } from "./pages.ts";

interface PlainReplyOptions {
  /** Whether it answers HEAD, and so has no body whatever it says. */
  isToHead: boolean;
  /** How long the client may keep its connection without asking anything, in seconds. */
  keptFor: number;
  /** Called once all of it was handed to the network. */
  onSent(): void;
}

/** The reply to a plain request, in the form that node:http gives to one. */
export class PlainReply extends EventEmitter<{ close: []; drain: [] }> implements ClientReply {
  readonly socket: Socket;
  statusCode = 200;
  headersSent = false;
  writableFinished = false;
  destroyed = false;
  /** Whether it says that the connection ends with it. */
  isLast = false;
  readonly #options: PlainReplyOptions;
  /** What goes before the next that is written. */
  #head = "";
  #hasBody = true;
  #isChunked = false;
  #isEnded = false;
  #onIdle: (() => void) | undefined;

  constructor(socket: Socket, options: PlainReplyOptions) {
    super();
    this.socket = socket;
    this.#options = options;
  }

  writeHead(status: number, headers: string[]): void {
    const names = new Set(headers.filter((_, at) => at % 2 === 0));
    this.writeHeadLines(status, linesOf(headers), {
      isCounted: names.has("content-length"),
      isDated: names.has("date"),
      isLast: names.has("connection"),
    });
  }

  writeHeadLines(status: number, lines: string, { isCounted, isDated, isLast }: LineFacts): void {
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "unknown"}\r\n${lines}`;
    if (!isDated) head += `Date: ${new Date().toUTCString()}\r\n`;
    this.isLast = isLast;
    if (!this.isLast) head += `Connection: keep-alive\r\nKeep-Alive: timeout=${this.#options.keptFor}\r\n`;
    this.statusCode = status;
    this.headersSent = true;
    this.#hasBody = !this.#options.isToHead && status !== 204 && status !== 304;
    this.#isChunked = this.#hasBody && !isCounted;
    this.#head = this.#isChunked ? `${head}Transfer-Encoding: chunked\r\n\r\n` : `${head}\r\n`;
  }

  flushHeaders(): void {
    if (this.#head === "") return;
    this.socket.write(this.#head, "latin1");
    this.#head = "";
  }

  write(part: Uint8Array | string, written?: () => void): boolean {
    const { socket } = this;
    socket.cork();
    this.flushHeaders();
    if (this.#hasBody && part.length > 0) this.#writePart(part, written);
    else written?.();
    socket.uncork();
    return !socket.writableNeedDrain;
  }

  end(last?: Uint8Array | string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const { socket } = this;
    const sent = (error?: Error | null) => this.#sent(error);
    const whole = this.#hasBody && !this.#isChunked && last instanceof Uint8Array && prepend(this.#head, last);
    if (whole) {
      socket.write(whole, sent);
      return;
    }
    socket.cork();
    if (this.#hasBody && last && last.length > 0) {
      this.flushHeaders();
      this.#writePart(last, this.#isChunked ? undefined : sent);
      if (this.#isChunked) socket.write("0\r\n\r\n", "latin1", sent);
    } else {
      socket.write(this.#isChunked ? `${this.#head}0\r\n\r\n` : this.#head, "latin1", sent);
      this.#head = "";
    }
    socket.uncork();
  }

  /** Whoever sends a plain request does not wait to be told to send a body. */
  writeContinue(): void {}

  destroy(): void {
    this.socket.destroy();
  }

  setTimeout(milliseconds: number, idle: () => void): void {
    this.#onIdle = idle;
    this.socket.setTimeout(milliseconds, idle);
  }

  /** The connection is gone, or has done with this reply. */
  close(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    if (this.#onIdle) this.socket.setTimeout(0, this.#onIdle);
    this.emit("close");
  }

  #writePart(part: Uint8Array | string, written?: (error?: Error | null) => void): void {
    const { socket } = this;
    if (this.#isChunked) socket.write(`${Buffer.byteLength(part).toString(16)}\r\n`, "latin1");
    socket.write(part, written);
    if (this.#isChunked) socket.write("\r\n", "latin1");
  }

  #sent(error: Error | null | undefined): void {
    if (error) return;
    this.writableFinished = true;
    this.close();
    this.#options.onSent();
  }
}

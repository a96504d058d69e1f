import { connect as connectTcp, type OnReadOpts, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { givePageBack, takePage } from "./pages.ts";
import { type ReplyListener, ReplyReader } from "./reply-reader.ts";

/** Who waits for a reply on a connection. */
export interface Asking extends ReplyListener {
  /** The connection failed, or was closed before the reply was whole. */
  onError(error: Error): void;
}

/** How long a connection may take to come about, in milliseconds. */
const connectTime = 2_000;

/** One kept-alive connection to a service, for one request after the other. */
export class ServiceConnection {
  readonly socket: Socket;
  readonly since = performance.now();
  idleSince = this.since;
  readonly #reader = new ReplyReader();
  readonly #onClose: () => void;
  #asking: Asking | undefined;
  #page = takePage();
  #isPaused = false;
  #error: Error | undefined;

  constructor(url: URL, onClose: () => void) {
    this.#onClose = onClose;
    this.socket = open(url, { buffer: () => this.#nextPage(), callback: (size) => this.#read(size) });
    this.socket.on("error", (error) => {
      this.#error = error;
    });
    this.socket.on("end", () => this.#end());
    this.socket.on("close", () => this.#close());
    this.socket.resume();
  }

  get isReusable(): boolean {
    return this.#asking === undefined && this.#reader.isReusable && !this.socket.destroyed;
  }

  /** Sends a request's head; the reply is told to `asking`. Its body, if any, is for the caller to write to the socket. */
  ask(head: string, isHead: boolean, asking: Asking): void {
    this.#asking = asking;
    this.#reader.expectReply(isHead, asking);
    this.socket.write(head, "latin1");
  }

  /** Nobody waits for the reply any longer. */
  giveUp(): void {
    this.#asking = undefined;
    this.socket.destroy();
  }

  /** The reply was told to its end. */
  done(): void {
    this.#asking = undefined;
    this.idleSince = performance.now();
    if (this.#isPaused) this.resume();
  }

  pause(): void {
    this.#isPaused = true;
    this.socket.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.socket.resume();
  }

  /**
   * Keeps what was just read as it is until it has been written: for whoever is told of a part of a body and cannot
   * write it at once. @returns what to call when it has been written.
   */
  lend(): () => void {
    const page = this.#page;
    page.borrowers += 1;
    return () => {
      page.borrowers -= 1;
      if (page.borrowers === 0 && page !== this.#page) givePageBack(page);
    };
  }

  #nextPage(): Buffer {
    if (this.#page.borrowers > 0) this.#page = takePage();
    return this.#page.space;
  }

  #read(size: number): boolean {
    try {
      this.#reader.read(this.#page.space.subarray(0, size));
    } catch (error) {
      this.socket.destroy(error as Error);
      return false;
    }
    return !this.#isPaused;
  }

  #end(): void {
    this.#reader.readEnd();
    this.socket.destroy();
  }

  #close(): void {
    this.#onClose();
    const asking = this.#asking;
    this.#asking = undefined;
    asking?.onError(this.#error ?? closedError());
  }
}

function open(url: URL, onread: OnReadOpts): Socket {
  const isTls = url.protocol === "https:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const options = { host, port: Number(url.port) || (isTls ? 443 : 80), noDelay: true, keepAlive: true, onread };
  const socket = isTls ? connectTls({ ...options, servername: host }) : connectTcp(options);
  const timer = setTimeout(() => socket.destroy(connectTimeout()), connectTime);
  socket.once(isTls ? "secureConnect" : "connect", () => clearTimeout(timer));
  socket.once("close", () => clearTimeout(timer));
  return socket;
}

function closedError(): Error {
  return Object.assign(new Error("The service closed the connection."), { code: "ECONNRESET" });
}

function connectTimeout(): Error {
  return Object.assign(new Error(`The service took no connection within ${connectTime} ms.`), { code: "ETIMEDOUT" });
}

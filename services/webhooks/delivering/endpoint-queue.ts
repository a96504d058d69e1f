import type { TokenBucket } from "@pragma/runtime/token-bucket";
import { Circuit } from "./circuit.ts";
import type { FairSemaphore } from "./fair-semaphore.ts";

export interface EndpointLimits {
  /** Messages under way to one endpoint at most. */
  concurrency: number;
  circuit: { failures: number; first: number; longest: number };
}

interface QueueOptions {
  origin: string;
  limits: EndpointLimits;
  semaphore: FairSemaphore;
  /** Messages a second to this endpoint. */
  endpointRate: TokenBucket;
  /** Messages a second to its host, shared with the host's other endpoints. */
  hostRate(): TokenBucket;
  /** Milliseconds: what the pauses of an endpoint that fails go by. */
  now: () => number;
  /** Called when the queue waits no longer. */
  onReady(): void;
}

/** Random, so that the endpoints of a host that wait do not all ask at once; in milliseconds. */
const minPauseMs = 50;
const maxPauseMs = 150;

/** How many more messages an endpoint may be sent now. What is due waits in the database until there is room for it. */
export class EndpointQueue {
  readonly #options: QueueOptions;
  readonly #circuit: Circuit;
  #active = 0;
  /** Whether the last claim left deliveries in the database. */
  #hasBacklog = false;
  #isWaiting = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#circuit = new Circuit(options.limits.circuit);
  }

  /** Whether it has to wait for its own messages to end, for its rate, or for a pause to be over. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** Whether messages wait for it in the database. */
  get isBehind(): boolean {
    return this.#hasBacklog || this.#isWaiting;
  }

  get isSpared(): boolean {
    return !this.#circuit.isClosed;
  }

  /** Whether there is nothing to remember. */
  get isIdle(): boolean {
    return this.#active === 0 && !this.#isWaiting && this.#circuit.isFresh;
  }

  /** Takes room for up to so many messages. When there is none, either it waits, or the semaphore has no places. */
  acquire(wanted: number): number {
    const { semaphore, origin, endpointRate } = this.#options;
    const hostRate = this.#options.hostRate();
    const now = this.#options.now();
    const allowed = this.#hasRoom() ? Math.min(wanted, this.#room(now)) : 0;
    if (allowed <= 0) {
      this.#wait(this.#circuit.wait(now));
      return 0;
    }
    const at = performance.now();
    const permitted = Math.min(allowed, Math.floor(endpointRate.left(at)), Math.floor(hostRate.left(at)));
    if (permitted === 0) {
      const hostPauseMs = hostRate.left(at) < 1 ? minPauseMs + Math.random() * (maxPauseMs - minPauseMs) : 0;
      this.#wait(Math.max(1, endpointRate.wait(at), hostRate.wait(at) + hostPauseMs));
      return 0;
    }
    this.#endWait();
    const acquired = semaphore.acquire(origin, { held: this.#active, wanted: permitted });
    this.#active += acquired;
    endpointRate.take(at, acquired);
    hostRate.take(at, acquired);
    return acquired;
  }

  /** Says for how much of the room that was taken deliveries were due. */
  claimed({ acquired, count }: { acquired: number; count: number }): void {
    this.#hasBacklog = count === acquired;
    this.cancel(acquired - count);
  }

  /** Gives room back unused: it does not count for the rates. */
  cancel(unused: number): void {
    const { endpointRate, hostRate } = this.#options;
    endpointRate.refund(performance.now(), unused);
    hostRate().refund(performance.now(), unused);
    this.#release(unused);
  }

  /** A message has ended; `spared` when the endpoint was not asked, or when that says nothing about it. */
  ended(outcome: "succeeded" | "failed" | "spared"): void {
    if (outcome === "succeeded") this.#circuit.succeeded();
    else if (outcome === "failed") this.#circuit.failed(this.#options.now());
    this.#release(1);
  }

  /** While there is a backlog many are claimed at a time: a claim for each would cost more than it gains. */
  #hasRoom(): boolean {
    const { concurrency } = this.#options.limits;
    return !this.#hasBacklog || this.#active === 0 || concurrency - this.#active >= concurrency / 2;
  }

  #room(now: number): number {
    return Math.min(this.#options.limits.concurrency, this.#circuit.allows(now)) - this.#active;
  }

  #release(count: number): void {
    this.#active -= count;
    const { semaphore, origin } = this.#options;
    semaphore.release(origin, { held: this.#active, released: count });
    if (this.#isWaiting && !this.#timer && this.#hasRoom()) this.#becomeReady();
  }

  /** Waits for so long; without a time, until a message ends. */
  #wait(milliseconds: number): void {
    this.#endWait();
    this.#isWaiting = true;
    if (milliseconds > 0) this.#timer = setTimeout(() => this.#becomeReady(), milliseconds).unref();
  }

  #endWait(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isWaiting = false;
  }

  #becomeReady(): void {
    this.#endWait();
    this.#options.onReady();
  }
}

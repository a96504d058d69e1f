import { ApiError, type ApiErrorCode } from "@pragma/contracts/errors";

export interface SenderError {
  /** `rate_limited` by default. */
  code?: ApiErrorCode;
  detail: (limit: { perSender: number; maxWaitingPerSender: number; maxWaitSeconds: number }) => string;
  /** The fields of `limit` in the error. The maximum is that of what is held, or that of what waits. */
  limit?: { name: string; unit: string; isOfWaiting?: boolean };
  /** 2 by default for `rate_limited`; for others, that of the code. */
  retryAfterSeconds?: number;
}

/** How much one sender, and all together, may hold, and how many may wait. Without a number, there is no limit. */
export interface AdmissionLimit {
  perSender?: number | (() => number);
  perProcess?: number | (() => number);
  /** Further requests are rejected, because each that waits occupies a connection. */
  maxWaitingPerSender?: number;
  maxWaiting?: number;
  /** How long a request waits, in milliseconds. It is then rejected. */
  maxWaitMs?: number;
  /** Whether a request that exceeds a limit on its own is admitted if nothing else is held, because it could never be otherwise. */
  canExceedAlone?: boolean;
  senderError?: SenderError;
  /** The detail of the error `overloaded` if all senders together have reached the limit. */
  overloadedDetail?: string;
}

/** The right to hold something, or a place in the queue until it is granted. */
export interface Permit {
  readonly isGranted: boolean;
  /** Resolves when the permit is granted, and rejects if it has waited too long. Never settles if it is released before. */
  readonly granted: Promise<void>;
  /** Returns the permit, or leaves the queue. Only the sender's part stays held for `pauseMs` milliseconds longer. */
  release(pauseMs?: number): void;
}

export interface PermitOptions {
  /** How much is held, in the unit of the limit; 1 by default. */
  cost?: number;
  /** Ends the wait when it is aborted, with the same error as a wait that is too long. */
  signal?: AbortSignal | undefined;
  maxWaitMs?: number | undefined;
}

interface WaitingRequest {
  cost: number;
  start(): void;
}

interface SenderState {
  held: number;
  /** The requests that wait, in the sequence in which they were added. */
  waiting: WaitingRequest[];
}

const alreadyGranted = Promise.resolve();

/** Admits what may be held at a time, and queues the rest. Senders take turns. */
export class Admission {
  readonly #limit: AdmissionLimit;
  readonly #getPerSender: () => number;
  readonly #getPerProcess: () => number;
  readonly #senders = new Map<string, SenderState>();
  /** The senders with a request that may be admitted as soon as the process has capacity, in the sequence of turns. */
  readonly #turns = new Set<string>();
  #held = 0;
  #waitingCount = 0;
  #rejectedCount = 0;

  constructor(limit: AdmissionLimit) {
    const toFunction = (maximum: number | (() => number) = Number.POSITIVE_INFINITY) =>
      typeof maximum === "function" ? maximum : () => maximum;
    this.#limit = limit;
    this.#getPerSender = toFunction(limit.perSender);
    this.#getPerProcess = toFunction(limit.perProcess);
  }

  get held(): number {
    return this.#held;
  }

  get rejectedCount(): number {
    return this.#rejectedCount;
  }

  getWaitingCount(sender?: string): number {
    return sender === undefined ? this.#waitingCount : (this.#senders.get(sender)?.waiting.length ?? 0);
  }

  /** Returns how many waiting requests could be admitted but for other senders, if each request costs 1. */
  countWaiting(): { ready: number; behindOwnSender: number } {
    let ready = 0;
    for (const sender of this.#turns) {
      const state = this.#senders.get(sender);
      if (state) ready += Math.min(state.waiting.length, Math.max(0, this.#getPerSender() - state.held));
    }
    return { ready, behindOwnSender: this.#waitingCount - ready };
  }

  findSenderError(sender: string, cost = 1): ApiError | undefined {
    return this.#hasSenderCapacity(this.#senders.get(sender), cost) ? undefined : this.#createSenderError();
  }

  /** Returns the error with which `hold` would reject, or undefined if there is capacity. */
  findError(sender: string, cost = 1, reserved = 0): ApiError | undefined {
    const error = this.findSenderError(sender, cost);
    return error ?? (this.#hasCapacity(cost + reserved) ? undefined : this.#createOverloadedError());
  }

  /** Holds without waiting, and returns a function that releases. Leaves `reserved` to others. @throws `ApiError` */
  hold(sender: string, cost = 1, reserved = 0): () => void {
    const error = this.findError(sender, cost, reserved);
    if (error) throw error;
    return this.holdBeyondLimit(sender, cost);
  }

  /** Counts what is held in any case, even beyond the limit. Returns a function that releases. Later calls have no effect. */
  holdBeyondLimit(sender: string, cost = 1): () => void {
    return this.#grant(sender, this.#getState(sender), cost);
  }

  /** Requests a permit, which is granted in turn. @throws `ApiError` if too many requests wait. */
  request(sender = "", { cost = 1, signal, maxWaitMs = this.#limit.maxWaitMs }: PermitOptions = {}): Permit {
    const state = this.#getState(sender);
    const isBehindOwn = state.waiting.length > 0 || !this.#hasSenderCapacity(state, cost);
    if (!isBehindOwn && this.#turns.size === 0 && this.#hasCapacity(cost) && !signal?.aborted)
      return { isGranted: true, granted: alreadyGranted, release: this.#grant(sender, state, cost) };
    const { maxWaitingPerSender = Number.POSITIVE_INFINITY, maxWaiting = Number.POSITIVE_INFINITY } = this.#limit;
    const isSenderFull = state.waiting.length >= maxWaitingPerSender;
    if (isSenderFull || this.#waitingCount >= maxWaiting || signal?.aborted) {
      if (!signal?.aborted) this.#rejectedCount += 1;
      this.#deleteIfUnused(sender, state);
      throw isSenderFull ? this.#createSenderError() : this.#createOverloadedError();
    }
    let release: ((pauseMs?: number) => void) | undefined;
    let leave = () => {};
    const granted = new Promise<void>((resolve, reject) => {
      const start = () => {
        endWait();
        release = this.#grant(sender, state, cost);
        resolve();
      };
      const entry: WaitingRequest = { cost, start };
      const giveUp = () => {
        if (!signal?.aborted) this.#rejectedCount += 1;
        leave();
        reject(isBehindOwn ? this.#createSenderError() : this.#createOverloadedError());
      };
      leave = () => {
        endWait();
        this.#removeWaiting(sender, state, entry);
      };
      const timer = maxWaitMs === undefined ? undefined : setTimeout(giveUp, Math.max(0, maxWaitMs));
      signal?.addEventListener("abort", giveUp, { once: true });
      const endWait = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", giveUp);
      };
      state.waiting.push(entry);
    });
    // A caller that has left the queue no longer waits for it.
    granted.catch(() => {});
    this.#waitingCount += 1;
    this.#scheduleTurn(sender, state);
    this.#admitWaiting();
    return {
      get isGranted() {
        return release !== undefined;
      },
      granted,
      release: (pauseMs) => (release ? release(pauseMs) : leave()),
    };
  }

  /** Waits for a permit. @throws `ApiError` as `request` does, or if it waits too long. */
  async acquire(sender?: string, options?: PermitOptions): Promise<Permit> {
    const permit = this.request(sender, options);
    if (!permit.isGranted) await permit.granted;
    return permit;
  }

  /** Runs work when it is the turn of its sender. @throws `ApiError` as `acquire` does. */
  async run<T>(work: () => Promise<T>, sender?: string, options?: PermitOptions): Promise<T> {
    const permit = await this.acquire(sender, options);
    try {
      return await work();
    } finally {
      permit.release();
    }
  }

  #hasSenderCapacity(state: SenderState | undefined, cost: number): boolean {
    return this.#fits(state?.held ?? 0, cost, this.#getPerSender());
  }

  #hasCapacity(cost: number): boolean {
    return this.#fits(this.#held, cost, this.#getPerProcess());
  }

  #fits(held: number, cost: number, maximum: number): boolean {
    return held + cost <= maximum || (held === 0 && this.#limit.canExceedAlone === true);
  }

  #getState(sender: string): SenderState {
    const state = this.#senders.get(sender) ?? { held: 0, waiting: [] };
    this.#senders.set(sender, state);
    return state;
  }

  #deleteIfUnused(sender: string, { held, waiting }: SenderState): void {
    if (held === 0 && waiting.length === 0) this.#senders.delete(sender);
  }

  #grant(sender: string, state: SenderState, cost: number): (pauseMs?: number) => void {
    this.#held += cost;
    state.held += cost;
    let isReleased = false;
    return (pauseMs = 0) => {
      if (isReleased) return;
      isReleased = true;
      this.#held -= cost;
      if (pauseMs === 0) return this.#releaseSender(sender, state, cost);
      setTimeout(() => this.#releaseSender(sender, state, cost), pauseMs);
      this.#admitWaiting();
    };
  }

  #releaseSender(sender: string, state: SenderState, cost: number): void {
    state.held -= cost;
    this.#deleteIfUnused(sender, state);
    this.#scheduleTurn(sender, state);
    this.#admitWaiting();
  }

  #scheduleTurn(sender: string, state: SenderState): void {
    const [next] = state.waiting;
    if (next && this.#hasSenderCapacity(state, next.cost)) this.#turns.add(sender);
  }

  #admitWaiting(): void {
    for (const sender of this.#turns) {
      const state = this.#senders.get(sender);
      const next = state?.waiting[0];
      if (next && !this.#hasCapacity(next.cost)) return;
      this.#turns.delete(sender);
      if (!state || !next) continue;
      state.waiting.shift();
      this.#waitingCount -= 1;
      next.start();
      this.#scheduleTurn(sender, state);
    }
  }

  #removeWaiting(sender: string, state: SenderState, entry: WaitingRequest): void {
    const index = state.waiting.indexOf(entry);
    if (index === -1) return;
    state.waiting.splice(index, 1);
    this.#waitingCount -= 1;
    if (state.waiting.length === 0) this.#turns.delete(sender);
    this.#deleteIfUnused(sender, state);
    // A smaller request may have waited behind this one.
    if (index === 0) this.#scheduleTurn(sender, state);
    this.#admitWaiting();
  }

  #createSenderError(): ApiError {
    const { senderError, maxWaitingPerSender = Number.POSITIVE_INFINITY, maxWaitMs = 0 } = this.#limit;
    if (!senderError) return this.#createOverloadedError();
    const { code = "rate_limited", detail, limit } = senderError;
    const { retryAfterSeconds = code === "rate_limited" ? 2 : undefined } = senderError;
    const perSender = Math.floor(this.#getPerSender());
    return new ApiError(code, {
      detail: detail({ perSender, maxWaitingPerSender, maxWaitSeconds: maxWaitMs / 1_000 }),
      ...(limit && {
        limit: { name: limit.name, maximum: limit.isOfWaiting ? maxWaitingPerSender : perSender, unit: limit.unit },
      }),
      ...(retryAfterSeconds && { headers: { "retry-after": String(retryAfterSeconds) } }),
    });
  }

  #createOverloadedError(): ApiError {
    return new ApiError("overloaded", { detail: this.#limit.overloadedDetail ?? "The server is busy. Retry shortly." });
  }
}

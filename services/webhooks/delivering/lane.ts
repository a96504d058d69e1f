import type { AttemptName, Claim } from "../queries/claims.ts";
import { Circuit } from "./circuit.ts";
import type { HostRates } from "./host-rates.ts";
import { Pace } from "./pace.ts";
import type { EndpointPlaces, SharedPlaces } from "./shared-places.ts";

/** What a lane has done for it. None of these rejects, but for the claims when the database is away. */
export interface LaneWork {
  /** Takes the delivery if this attempt is still to be made. */
  claim(name: AttemptName): Promise<Claim | undefined>;
  /** Takes what is due of a webhook. */
  claimDue(webhookId: string, limit: number): Promise<Claim[]>;
  /** Makes the attempt, and tells how the endpoint did; `spared` when it was not asked. */
  deliver(claim: Claim): Promise<"succeeded" | "failed" | "spared">;
}

export interface LaneLimits {
  /** Messages under way to one endpoint at most. */
  concurrency: number;
  /** Messages a second to one endpoint. */
  rate: number;
  circuit: { failures: number; first: number; longest: number };
}

interface LaneOptions {
  webhookId: string;
  origin: string;
  host: string;
  work: LaneWork;
  places: SharedPlaces;
  hostRates: HostRates;
  limits: LaneLimits;
  /** Milliseconds: what the pauses of an endpoint that fails go by. */
  now: () => number;
}

/** After a failure to claim, milliseconds. */
const pauseAfterFailure = 500;

/**
 * The way to one endpoint: so many messages at once, so many a second to it and to its host, and none while it only
 * fails.
 *
 * Of what it is offered it takes what it has room for. The rest stays in the database, from where the lane fetches it,
 * the longest due first, as room comes free: nothing waits in memory, and no other endpoint waits for this one.
 */
export class Lane {
  readonly #options: LaneOptions;
  readonly #circuit: Circuit;
  readonly #pace: Pace;
  readonly #places: EndpointPlaces;
  #underWay = 0;
  /** Whether the database may hold more that is due. */
  #isBehind = false;
  #isFetching = false;
  #isClosed = false;
  #timer: { handle: NodeJS.Timeout; at: number } | undefined;
  #whenIdle: (() => void) | undefined;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#circuit = new Circuit(options.limits.circuit);
    this.#pace = new Pace(options.limits.rate);
    this.#places = options.places.open(options.origin, () => this.#fetch());
  }

  /** Whether it fetches what is due by itself, so that nobody need tell it. */
  get isBehind(): boolean {
    return this.#isBehind || this.#isFetching;
  }

  /** Whether it has nothing to do, and nothing to remember. */
  get isForgettable(): boolean {
    return this.#underWay === 0 && !this.isBehind && this.#circuit.isFresh;
  }

  /** Whether the endpoint is spared, because it only fails. */
  get isSparing(): boolean {
    return !this.#circuit.isClosed;
  }

  /** Has an attempt made that is due, now or in its turn. */
  offer(name: AttemptName): void {
    if (this.#isClosed) return;
    if (this.isBehind || this.#takePlaces(1) === 0) this.wake();
    else this.#run(this.#options.work.claim(name), () => this.wake());
  }

  /** Has everything fetched that is due. */
  wake(): void {
    this.#isBehind = true;
    this.#fetch();
  }

  /** Begins nothing new; resolves when nothing is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer?.handle);
    this.#places.close();
    if (this.#underWay > 0) await new Promise<void>((resolve) => (this.#whenIdle = resolve));
  }

  /** @returns whether it took places. */
  #fetch(): boolean {
    if (!this.#isBehind || this.#isFetching || this.#isClosed) return false;
    const { concurrency } = this.#options.limits;
    const room = concurrency - this.#underWay;
    // Many at a time: a query for each would cost more than it gains.
    if (this.#underWay > 0 && room < concurrency / 2) return false;
    const places = this.#takePlaces(room);
    if (places === 0) return false;
    this.#isFetching = true;
    this.#isBehind = false;
    this.#options.work.claimDue(this.#options.webhookId, places).then(
      (claims) => this.#fetched(claims, places),
      () => this.#fetched([], places, { hasFailed: true }),
    );
    return true;
  }

  #fetched(claims: Claim[], places: number, { hasFailed = false } = {}): void {
    this.#isFetching = false;
    this.#giveBack(places - claims.length);
    this.#giveBackTokens(places - claims.length);
    if (claims.length === places || hasFailed) this.#isBehind = true;
    for (const claim of claims) this.#run(Promise.resolve(claim), () => {});
    if (hasFailed) this.#later(pauseAfterFailure);
    else this.#fetch();
  }

  #run(claiming: Promise<Claim | undefined>, onFailure: () => void): void {
    claiming
      .then(async (claim) => {
        if (!claim) return this.#giveBackTokens(1);
        const outcome = await this.#options.work.deliver(claim);
        if (outcome === "succeeded") this.#circuit.succeeded();
        else if (outcome === "failed") this.#circuit.failed(this.#options.now());
      })
      .catch(onFailure)
      .finally(() => {
        this.#giveBack(1);
        this.#fetch();
      });
  }

  /** Takes up to `wanted` places; when there are fewer, sees to it that it is tried again when there may be more. */
  #takePlaces(wanted: number): number {
    const { limits } = this.#options;
    const now = this.#options.now();
    const allowed = Math.min(wanted, limits.concurrency - this.#underWay, this.#circuit.allows(now) - this.#underWay);
    if (allowed <= 0) {
      const wait = this.#circuit.wait(now);
      if (wait > 0) this.#later(wait);
      return 0;
    }
    const { host, hostRates } = this.#options;
    const paced = this.#pace.take(allowed, performance.now());
    if (paced === 0) this.#later(this.#pace.wait(performance.now()));
    const permitted = paced > 0 ? hostRates.take(host, paced) : 0;
    this.#pace.giveBack(paced - permitted);
    if (paced > 0 && permitted === 0) this.#later(hostRates.wait(host));
    const taken = permitted > 0 ? this.#places.take(permitted) : 0;
    this.#giveBackTokens(permitted - taken);
    this.#underWay += taken;
    return taken;
  }

  /** Messages that are not sent after all do not count. */
  #giveBackTokens(unused: number): void {
    this.#pace.giveBack(unused);
    this.#options.hostRates.giveBack(this.#options.host, unused);
  }

  #giveBack(count: number): void {
    this.#underWay -= count;
    this.#places.giveBack(count);
    if (this.#underWay === 0) this.#whenIdle?.();
  }

  /** Tries again after a while, or earlier if it is to be tried earlier already. */
  #later(milliseconds: number): void {
    const at = performance.now() + milliseconds;
    if (this.#isClosed || (this.#timer && this.#timer.at <= at)) return;
    clearTimeout(this.#timer?.handle);
    const handle = setTimeout(() => {
      this.#timer = undefined;
      this.#fetch();
    }, milliseconds);
    this.#timer = { handle, at };
  }
}

import { ApiError, type ErrorCode, toProblemDetails } from "@pragma/contracts/errors";
import type { OrderLiveInput } from "@pragma/contracts/order-live";
import type { TillV2 } from "@pragma/contracts/till-v2";
import { Random } from "../random.ts";
import type { SimulationClock } from "../transient-retry-options.ts";

/** A clock that goes on when somebody waits. */
export class FakeClock implements SimulationClock {
  time: number;
  /** Called whenever time goes on. */
  onTick: () => void = () => {};

  constructor(time: number) {
    this.time = time;
  }

  now(): number {
    return this.time;
  }

  async wait(milliseconds: number, signal: AbortSignal): Promise<void> {
    this.time += milliseconds;
    this.onTick();
    signal.throwIfAborted();
  }
}

/**
 * As much of the API as playing a location calls, in memory: a till's report is final as soon as it is pushed. An upsert is
 * answered without the orders that it took, which nobody reads.
 */
export class FakeLiveApi {
  readonly live = new Map<string, OrderLiveInput>();
  readonly tills: TillV2[] = [];
  /** What goes wrong with the next calls. */
  faults: (ErrorCode | "unreachable")[] = [];
  /** How many orders were live at once at most. */
  maxLive = 0;
  /** How many changes of orders it took. */
  changes = 0;

  readonly fetch = async (request: Request): Promise<Response> => {
    const fault = this.faults.shift();
    if (fault === "unreachable") throw new TypeError("fetch failed");
    if (fault !== undefined) return errorResponse(fault);
    const { pathname, searchParams } = new URL(request.url);
    const id = pathname.slice(pathname.lastIndexOf("/") + 1);
    switch (`${request.method} ${pathname.replace(/\/[\da-f-]{36}$/, "/{id}")}`) {
      case "POST /v1/orders-live":
        this.#upsert((await request.json()) as OrderLiveInput[]);
        return Response.json([]);
      case "GET /v1/orders-live":
        return pageResponse(this.#liveOf(searchParams.get("tillId")));
      case "POST /v2/tills":
        return this.#push((await request.json()) as TillV2);
      case "GET /v1/tills/{id}":
        return this.#find(id) ? Response.json({ id }) : errorResponse("till_not_found");
      case "GET /v2/reports":
        return pageResponse(
          this.tills.map((till) => ({ id: till.id, startedAt: till.startedAt, totalSales: 0 })).reverse(),
        );
      case "GET /v2/reports/{id}":
        return Response.json({ reportNumber: this.#find(id)?.reportNumber });
      default:
        return errorResponse("route_not_found");
    }
  };

  #upsert(orders: OrderLiveInput[]): void {
    const taken = orders.filter(
      ({ id, tillId, revisionHash }) => !this.#find(tillId) && this.live.get(id)?.revisionHash !== revisionHash,
    );
    for (const order of taken) this.live.set(order.id, order);
    this.maxLive = Math.max(this.maxLive, this.live.size);
    this.changes += taken.length;
  }

  #liveOf(tillId: string | null): OrderLiveInput[] {
    return [...this.live.values()].filter((order) => tillId === null || order.tillId === tillId);
  }

  #push(till: TillV2): Response {
    if (this.#find(till.id)) return errorResponse("till_conflict");
    this.tills.push(till);
    for (const order of this.#liveOf(till.id)) this.live.delete(order.id);
    return Response.json({ id: till.id }, { status: 201 });
  }

  #find(id: string): TillV2 | undefined {
    return this.tills.find((till) => till.id === id);
  }
}

/** An order of another device, with ids of its own. */
export function createOtherDeviceOrder(order: OrderLiveInput): OrderLiveInput {
  const id = new Random(`another ${order.id}`).uuid();
  return { ...order, id, tillId: id, data: { ...order.data, id, deviceIdentifier: "another" } };
}

function pageResponse(items: readonly unknown[]): Response {
  const meta = { totalPage: 1, totalCount: items.length, currentPageIndex: 0, pageSize: 100 };
  return Response.json({ data: items, meta, nextPageToken: null });
}

function errorResponse(code: ErrorCode): Response {
  const error = new ApiError(code);
  return Response.json(toProblemDetails(error, "the request"), { status: error.status });
}

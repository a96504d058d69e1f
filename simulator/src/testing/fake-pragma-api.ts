import { ApiError, type ApiErrorCode, toProblemDetails } from "@pragma/contracts/errors";
import type { OrderLiveInput } from "@pragma/contracts/order-live";
import type { TillV2 } from "@pragma/contracts/till-v2";
import { SeededRandom } from "../random.ts";
import type { InjectableClock } from "../transient-retry-options.ts";

/** A clock that advances only when its `wait` function is called, or when a test sets `time`. */
export class FakeClock implements InjectableClock {
  time: number;
  /** Is called each time that `wait` has advanced this clock. */
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
 * An in-memory fake of the API operations that the simulation of a location uses. The report of a till is available as
 * soon as the till is pushed. Upserts return an empty list, because the simulator ignores their response.
 */
export class FakePragmaApi {
  readonly liveOrders = new Map<string, OrderLiveInput>();
  readonly tills: TillV2[] = [];
  /** The errors with which the next calls fail, one error for each call. */
  nextErrors: (ApiErrorCode | "unreachable")[] = [];
  /** The highest number of live orders that existed at the same time. */
  maxLiveOrders = 0;
  /** The number of accepted order revisions. */
  revisionCount = 0;

  readonly fetch = async (request: Request): Promise<Response> => {
    const error = this.nextErrors.shift();
    if (error === "unreachable") throw new TypeError("fetch failed");
    if (error !== undefined) return errorResponse(error);
    const { pathname, searchParams } = new URL(request.url);
    const id = pathname.slice(pathname.lastIndexOf("/") + 1);
    switch (`${request.method} ${pathname.replace(/\/[\da-f-]{36}$/, "/{id}")}`) {
      case "POST /v1/orders-live":
        this.#upsertOrders((await request.json()) as OrderLiveInput[]);
        return Response.json([]);
      case "GET /v1/orders-live":
        return pageResponse(this.#listLiveOrders(searchParams.get("tillId")));
      case "POST /v2/tills":
        return this.#pushTill((await request.json()) as TillV2);
      case "GET /v1/tills":
        return pageResponse(this.tills.map((till) => ({ id: till.id })));
      case "GET /v2/reports":
        return pageResponse(this.tills.map((till) => ({ id: till.id, tillId: till.id, totalSales: 0 })).reverse());
      case "GET /v2/reports/{id}":
        return Response.json({ reportNumber: this.#findTill(id)?.reportNumber });
      default:
        return errorResponse("route_not_found");
    }
  };

  #upsertOrders(orders: OrderLiveInput[]): void {
    const accepted = orders.filter(
      ({ id, tillId, revisionHash }) =>
        !this.#findTill(tillId) && this.liveOrders.get(id)?.revisionHash !== revisionHash,
    );
    for (const order of accepted) this.liveOrders.set(order.id, order);
    this.maxLiveOrders = Math.max(this.maxLiveOrders, this.liveOrders.size);
    this.revisionCount += accepted.length;
  }

  #listLiveOrders(tillId: string | null): OrderLiveInput[] {
    return [...this.liveOrders.values()].filter((order) => tillId === null || order.tillId === tillId);
  }

  #pushTill(till: TillV2): Response {
    if (this.#findTill(till.id)) return errorResponse("till_conflict");
    this.tills.push(till);
    for (const order of this.#listLiveOrders(till.id)) this.liveOrders.delete(order.id);
    return Response.json({ id: till.id }, { status: 201 });
  }

  #findTill(id: string): TillV2 | undefined {
    return this.tills.find((till) => till.id === id);
  }
}

/** Returns a copy of an order with other ids, as another device would send it. */
export function copyOrderAsOtherDevice(order: OrderLiveInput): OrderLiveInput {
  const id = new SeededRandom(`another ${order.id}`).uuid();
  return { ...order, id, tillId: id, data: { ...order.data, id, deviceIdentifier: "another" } };
}

function pageResponse(items: readonly unknown[]): Response {
  const meta = { totalPage: 1, totalCount: items.length, currentPageIndex: 0, pageSize: 100 };
  return Response.json({ data: items, meta, nextPageToken: null });
}

function errorResponse(code: ApiErrorCode): Response {
  const error = new ApiError(code);
  return Response.json(toProblemDetails(error, "the request"), { status: error.status });
}

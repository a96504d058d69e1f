import type { OrderLiveInput } from "@pragma/contracts/order-live";

/** The expected live orders of a location after some requests, computed by a second, simpler implementation. */
export class LiveOrderReferenceModel {
  readonly orders = new Map<string, ModelOrder>();
  readonly finalTills = new Set<string>();
  /** By order id: the till whose report contains the order, which was not sent before that till was closed. */
  readonly neverLiveOrders = new Map<string, { tillId: string; closedAt: string }>();
  /** The messages that a stream should have sent, oldest first. */
  readonly expectedMessages: string[] = [];

  clone(): LiveOrderReferenceModel {
    const copy = new LiveOrderReferenceModel();
    for (const [id, order] of this.orders) copy.orders.set(id, { ...order, events: [...order.events] });
    for (const till of this.finalTills) copy.finalTills.add(till);
    for (const [id, neverLive] of this.neverLiveOrders) copy.neverLiveOrders.set(id, neverLive);
    copy.expectedMessages.push(...this.expectedMessages);
    return copy;
  }

  /** Applies the upsert of an order. Returns false if the order is skipped. */
  upsert(order: OrderLiveInput): boolean {
    const before = this.orders.get(order.id);
    if (this.#isSkipped(order, before)) return false;
    const { data } = order;
    const { modifiedAt } = data;
    const listedBefore = before && !before.order.data.isTraining ? before : undefined;
    const event = data.isTraining ? undefined : expectedEvent(listedBefore?.order, order);
    this.orders.set(order.id, {
      order,
      latestModifiedAt:
        !modifiedAt || (before?.latestModifiedAt ?? "") > modifiedAt ? (before?.latestModifiedAt ?? null) : modifiedAt,
      isLive: true,
      closedAt: null,
      events: [...(before?.events ?? []), ...(event ? [event] : [])],
    });
    const wasListed = before?.isLive && !before.order.data.isTraining;
    if (!data.isTraining) this.expectedMessages.push(`order ${order.id} ${order.revisionHash}`);
    else if (wasListed) this.expectedMessages.push(`left ${order.id} training`);
    return true;
  }

  finishTill(tillId: string, reportedIds: string[], closedAt: string): void {
    if (!this.finalTills.has(tillId)) {
      for (const id of reportedIds)
        if (!this.orders.has(id) && !this.neverLiveOrders.has(id)) this.neverLiveOrders.set(id, { tillId, closedAt });
    }
    this.finalTills.add(tillId);
    const departingOrders = [...this.orders.values()].filter(
      ({ order, isLive }) => isLive && (order.tillId === tillId || reportedIds.includes(order.id)),
    );
    departingOrders.sort((one, other) => (listSortKey(one) < listSortKey(other) ? -1 : 1));
    for (const departing of departingOrders) {
      departing.isLive = false;
      departing.closedAt = reportedIds.includes(departing.order.id) ? closedAt : null;
      if (!departing.order.data.isTraining) this.expectedMessages.push(`left ${departing.order.id} till`);
    }
  }

  /** The ids and revisions of the orders in the expected list. */
  get listed(): string[] {
    return [...this.orders.values()]
      .filter(({ isLive, order }) => isLive && !order.data.isTraining)
      .map(({ order }) => `${order.id} ${order.revisionHash}`)
      .sort();
  }

  /** The tills of the shifts that have live orders. */
  get openTillIds(): string[] {
    const listed = [...this.orders.values()].filter(({ isLive, order }) => isLive && !order.data.isTraining);
    return [...new Set(listed.map(({ order }) => order.tillId))].sort();
  }

  /** The ids and revisions of all live orders, including training orders. */
  get liveRevisions(): string[] {
    return [...this.orders.values()]
      .filter(({ isLive }) => isLive)
      .map(({ order }) => `${order.id} ${order.revisionHash}`)
      .sort();
  }

  #isSkipped(
    { id, tillId, revisionHash, data: { modifiedAt } }: OrderLiveInput,
    before: ModelOrder | undefined,
  ): boolean {
    if (this.finalTills.has(tillId)) return true;
    if (!before) {
      const neverLive = this.neverLiveOrders.get(id);
      return neverLive !== undefined && (modifiedAt ?? "") <= neverLive.closedAt;
    }
    if (before.isLive) {
      return (
        revisionHash === before.order.revisionHash ||
        (modifiedAt !== null && modifiedAt < (before.latestModifiedAt ?? ""))
      );
    }
    return tillId === before.order.tillId || (before.closedAt !== null && (modifiedAt ?? "") <= before.closedAt);
  }
}

interface ModelOrder {
  order: OrderLiveInput;
  /** The latest `modifiedAt` that was sent. */
  latestModifiedAt: string | null;
  isLive: boolean;
  closedAt: string | null;
  /** The types of the events that are published for the order, oldest first. */
  events: string[];
}

const listSortKey = ({ order }: ModelOrder) => `${order.data.openedAt} ${order.id}`;

function expectedEvent(before: OrderLiveInput | undefined, after: OrderLiveInput): string | undefined {
  const hasBecome = (flag: "isCanceled" | "isTransferred" | "isPaid") => after.data[flag] && !before?.data[flag];
  if (hasBecome("isCanceled")) return "order.canceled";
  if (hasBecome("isTransferred")) return "order.transferred";
  if (hasBecome("isPaid")) return "order.paid";
  if (!isOpen(after)) return undefined;
  const hasNewRows = !before || !isOpen(before) || serializeRows(before) !== serializeRows(after);
  return hasNewRows ? "order.call" : undefined;
}

const isOpen = ({ data }: OrderLiveInput) =>
  !data.isCanceled && !data.isTransferred && !data.isPaid && !data.manuallyClosed;

const serializeRows = ({ data }: OrderLiveInput) => JSON.stringify([data.productRowList, data.menuRowList]);

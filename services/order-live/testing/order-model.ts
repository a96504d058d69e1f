import type { OrderLiveInput } from "@pragma/contracts/order-live";

/** What a location's live orders should be, after everything that was sent: the rules once more, in the simplest words. */
export class LiveOrderModel {
  readonly orders = new Map<string, ModelOrder>();
  readonly finalTills = new Set<string>();
  /** What a stream should have said of changes, in its order. */
  readonly expectedMessages: string[] = [];

  clone(): LiveOrderModel {
    const copy = new LiveOrderModel();
    for (const [id, order] of this.orders) copy.orders.set(id, { ...order, events: [...order.events] });
    for (const till of this.finalTills) copy.finalTills.add(till);
    copy.expectedMessages.push(...this.expectedMessages);
    return copy;
  }

  /** Whether the order is taken. */
  upsert(given: OrderLiveInput): boolean {
    const before = this.orders.get(given.id);
    if (this.#isSkipped(given, before)) return false;
    const { data } = given;
    const time = data.modifiedAt;
    const known = before && !before.order.data.isTraining ? before : undefined;
    const event = data.isTraining ? undefined : expectedEvent(known?.order, given);
    this.orders.set(given.id, {
      order: given,
      latestModifiedAt: !time || (before?.latestModifiedAt ?? "") > time ? (before?.latestModifiedAt ?? null) : time,
      isLive: true,
      closedAt: null,
      events: [...(before?.events ?? []), ...(event ? [event] : [])],
    });
    const wasShown = before?.isLive && !before.order.data.isTraining;
    if (!data.isTraining) this.expectedMessages.push(`order ${given.id} ${given.revisionHash}`);
    else if (wasShown) this.expectedMessages.push(`left ${given.id} training`);
    return true;
  }

  finishTill(tillId: string, heldIds: string[], closedAt: string): void {
    this.finalTills.add(tillId);
    const leavingOrders = [...this.orders.values()].filter(
      ({ order, isLive }) => isLive && (order.tillId === tillId || heldIds.includes(order.id)),
    );
    leavingOrders.sort((one, other) => (listSortKey(one) < listSortKey(other) ? -1 : 1));
    for (const known of leavingOrders) {
      known.isLive = false;
      known.closedAt = heldIds.includes(known.order.id) ? closedAt : null;
      if (!known.order.data.isTraining) this.expectedMessages.push(`left ${known.order.id} till`);
    }
  }

  /** Ids and revisions of what a list should show. */
  get listed(): string[] {
    return [...this.orders.values()]
      .filter(({ isLive, order }) => isLive && !order.data.isTraining)
      .map(({ order }) => `${order.id} ${order.revisionHash}`)
      .sort();
  }

  /** Live orders and their revisions, also those that no list shows. */
  get liveRevisions(): string[] {
    return [...this.orders.values()]
      .filter(({ isLive }) => isLive)
      .map(({ order }) => `${order.id} ${order.revisionHash}`)
      .sort();
  }

  #isSkipped(given: OrderLiveInput, before: ModelOrder | undefined): boolean {
    if (this.finalTills.has(given.tillId)) return true;
    if (!before) return false;
    const time = given.data.modifiedAt;
    if (before.isLive) {
      return (
        given.revisionHash === before.order.revisionHash || (time !== null && time < (before.latestModifiedAt ?? ""))
      );
    }
    return given.tillId === before.order.tillId || (before.closedAt !== null && (time ?? "") <= before.closedAt);
  }
}

interface ModelOrder {
  order: OrderLiveInput;
  /** The latest time of change that was given. */
  latestModifiedAt: string | null;
  isLive: boolean;
  closedAt: string | null;
  /** The types of its events, in their order. */
  events: string[];
}

const listSortKey = ({ order }: ModelOrder) => `${order.data.openedAt} ${order.id}`;

function expectedEvent(before: OrderLiveInput | undefined, after: OrderLiveInput): string | undefined {
  const hasBecome = (flag: "isCanceled" | "isTransferred" | "isPaid") => after.data[flag] && !before?.data[flag];
  if (hasBecome("isCanceled")) return "order.canceled";
  if (hasBecome("isTransferred")) return "order.transferred";
  if (hasBecome("isPaid")) return "order.paid";
  if (!isOpen(after)) return undefined;
  const isCalled = !before || !isOpen(before) || serializeRows(before) !== serializeRows(after);
  return isCalled ? "order.call" : undefined;
}

const isOpen = ({ data }: OrderLiveInput) =>
  !data.isCanceled && !data.isTransferred && !data.isPaid && !data.manuallyClosed;

const serializeRows = ({ data }: OrderLiveInput) => JSON.stringify([data.productRowList, data.menuRowList]);

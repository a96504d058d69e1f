import { getSchemaFieldDefaults } from "@pragma/contracts/fields";
import { PosOrderData } from "@pragma/contracts/order-data";
import { generatePayments, isDeductedPayment } from "./generate-payments.ts";
import {
  guestStayShareByCancellation,
  guestStayShareByOrderEvent,
  pickCancellationTiming,
  simulatedCancellationReasons,
} from "./order-times.ts";
import type { SimulatedOrderPlan } from "./plan-orders.ts";
import {
  computeSimulatedOrderAmounts,
  generateProductRow,
  type OrderGenerationContext,
  type SimulatedOrderRows,
  sumFieldOfRows,
} from "./product-row.ts";
import type { SeededRandom } from "./random.ts";
import type { GeneratedRestaurant, GeneratedRestaurantProduct } from "./restaurant.ts";
import { addSpecialCases, applyDiscountToSimulatedOrder } from "./row-cases.ts";

interface NewOrder extends Omit<OrderGenerationContext, "room"> {
  plan: SimulatedOrderPlan;
  tillId: string;
  fiscalNumber: number;
  /** By table id: until when the table is occupied. Orders must therefore be generated in order of opening time. */
  occupiedUntil: Map<string, string>;
  cashier: OrderGenerationContext["operator"];
}

const orderDefaults = getSchemaFieldDefaults(PosOrderData.shape);

const guestsCountWeights = [
  [1, 3],
  [2, 9],
  [3, 4],
  [4, 5],
  [6, 2],
  [8, 1],
] as const;

export function generateOrderFromPlan(order: NewOrder): PosOrderData {
  const { random, restaurant, plan, tillId, fiscalNumber, times, operator } = order;
  const room = pickRoom(random, restaurant, plan);
  const context = { random, restaurant, room, operator, times };
  const table = pickTable(context, order.occupiedUntil);
  const guestsCount = plan.serviceType === "eatin" && plan.countsGuests ? random.pickWeighted(guestsCountWeights) : 0;

  const rows = generateRows(context, plan, guestsCount);
  const amounts = computeSimulatedOrderAmounts(rows);
  const ending = generateOrderEnding(context, plan);
  const customer = pickCustomer(context, plan);
  const delivery = generateDelivery(context, plan);
  const paymentRowList = generatePayments({
    ...context,
    operator: order.cashier,
    plan,
    due: amounts.total,
    channel: delivery.channel,
    customerKey: customer.firebaseCustomerRefKey,
  });

  const settled = sumFieldOfRows(paymentRowList.filter(isDeductedPayment), "amount");
  const leftToPay = ending.isCanceled || ending.isTransferred ? 0 : amounts.total - settled;
  const isPaid = !ending.isCanceled && paymentRowList.length > 0 && leftToPay === 0;
  const isMerged = plan.cases.has("mergedOrder");
  return {
    ...orderDefaults,
    id: random.uuid(),
    tillId,
    roomId: room.id,
    revisionHash: random.uuid(),
    deviceIdentifier: restaurant.device.id,
    deviceName: restaurant.device.name,
    openedAt: times.openedAt,
    modifiedAt: times.closedAt,
    closedAt: times.closedAt,
    paidAt: isPaid || (ending.isCanceled && settled !== 0) ? times.at(guestStayShareByOrderEvent.payment) : null,
    ...ending,
    ...amounts,
    leftToPay,
    guestsCount,
    billPrintCount: ending.firstBillPrintDate === null ? 0 : 1,
    proofsOfPaymentCount: 0,
    postPaymentPrintCount: 0,
    roomType: room.type,
    roomPricing: room.pricing.type,
    roomName: room.name,
    tableId: table.id,
    tableName: table.name,
    beeperNumber: plan.serviceType === "takeout" && random.chance(0.3) ? random.integer(1, 30) : null,
    preparationActivated: true,
    isMerged,
    manuallyClosed: plan.kind !== "training" && !isPaid && amounts.total <= 0,
    isPaid,
    fiscalNumber,
    signature: random.hex(64),
    operatorId: operator.id,
    operatorName: operator.name,
    ...customer,
    isPrepaid: delivery.source === "platform",
    pickupHour: plan.serviceType === "takeout" ? times.at(guestStayShareByOrderEvent.end) : null,
    groupedTableInfo: isMerged ? groupTables(random, room, table.id) : [],
    ...delivery,
    serviceType: plan.serviceType,
    isTraining: plan.kind === "training",
    paymentRowList,
    productRowList: [...rows.productRowList],
    menuRowList: [...rows.menuRowList],
  };
}

/** Returns a free table, or any table if none is free. Marks the table as occupied until the order is closed. */
function pickTable({ random, room, times }: OrderGenerationContext, occupiedUntil: Map<string, string>) {
  const freeTables = room.tables.filter(({ id }) => (occupiedUntil.get(id) ?? "") <= times.openedAt);
  const table = random.pick(freeTables.length > 0 ? freeTables : room.tables);
  occupiedUntil.set(table.id, times.closedAt);
  return table;
}

function generateRows(context: OrderGenerationContext, plan: SimulatedOrderPlan, guestsCount: number) {
  const isRefund = plan.kind === "refund";
  const productLines = pickProducts(context, plan, guestsCount);
  const productRowList = productLines.map(({ product, quantity }) =>
    generateProductRow(context, { product, quantity: isRefund ? -quantity : quantity }),
  );
  const rows: SimulatedOrderRows = { productRowList, menuRowList: [] };
  if (isRefund) return rows;
  if (plan.kind === "gifted") return applyDiscountToSimulatedOrder(context, rows, context.restaurant.gift);
  const products = productLines.map(({ product }) => product);
  return addSpecialCases(context, plan.cases, rows, products);
}

function pickProducts(context: OrderGenerationContext, plan: SimulatedOrderPlan, guestsCount: number) {
  const { random, restaurant, room } = context;
  const isOffered = ({ soldBy, course }: GeneratedRestaurantProduct) =>
    soldBy === "piece" && coursesByRoom[room.type].includes(course);
  // An order with a refund has at least two products, of which the cheapest is refunded, so that its total is positive.
  const minCount = plan.cases.has("refundRow") ? 2 : 1;
  const count = random.integer(minCount, Math.max(2, Math.min(5, guestsCount + 2)));
  return random.sample(restaurant.products.filter(isOffered), count).map((product) => ({
    product,
    quantity: random.chance(0.6) ? 1 : random.integer(1, Math.max(2, Math.min(4, guestsCount))),
  }));
}

const coursesByRoom: Record<OrderGenerationContext["room"]["type"], readonly GeneratedRestaurantProduct["course"][]> = {
  room: ["drink", "starter", "main", "dessert"],
  bar: ["drink"],
  takeOut: ["main", "dessert", "drink", "shop"],
  extOrder: ["main", "dessert", "drink"],
};

function generateOrderEnding({ random, times }: OrderGenerationContext, plan: SimulatedOrderPlan) {
  const { kind, kindIndex, cases } = plan;
  const cancellation = kind === "canceled" ? pickCancellationTiming("order", kindIndex) : null;
  const isTransferred = kind === "transferred";
  const ending = {
    isCanceled: cancellation !== null,
    canceledAt: cancellation && times.at(guestStayShareByCancellation[cancellation]),
    canceledReason: cancellation && random.pick([...simulatedCancellationReasons, null]),
    isTransferred,
    transferredAt: isTransferred ? times.closedAt : null,
    transferredTo: isTransferred ? random.pick(["Chambre 12", "Chambre 204", "Mews"]) : null,
  };
  const rowIndex = cases.get("canceledRow");
  const timing = cancellation ?? (rowIndex === undefined ? null : pickCancellationTiming("row", rowIndex));
  const hasBill = timing === null ? random.chance(0.7) : timing !== "withoutBill";
  return { ...ending, firstBillPrintDate: hasBill ? times.at(guestStayShareByOrderEvent.bill) : null };
}

function pickRoom(random: SeededRandom, { rooms }: GeneratedRestaurant, plan: SimulatedOrderPlan) {
  const roomTypes = { takeout: ["takeOut"], delivery: ["extOrder"], eatin: ["room", "bar"] }[plan.serviceType];
  const matchingRooms = rooms.filter(({ type }) => roomTypes.includes(type));
  return random.pickWeighted(matchingRooms.map((room) => [room, room.tables.length] as const));
}

function groupTables(random: SeededRandom, { tables }: OrderGenerationContext["room"], tableId: string) {
  const other = random.pick(tables.filter(({ id }) => id !== tableId));
  return [tableId, other.id].map((id) => ({ id: random.uuid(), catalogTableId: id }));
}

function pickCustomer({ random, restaurant }: OrderGenerationContext, plan: SimulatedOrderPlan) {
  const isRegular = plan.cases.has("account") || random.chance(0.08);
  const { name, key } = isRegular ? random.pick(restaurant.regulars) : { name: null, key: null };
  return { firebaseCustomerName: name, firebaseCustomerRefKey: key };
}

function generateDelivery({ random, restaurant, times }: OrderGenerationContext, plan: SimulatedOrderPlan) {
  if (plan.serviceType !== "delivery") return { channel: "unknown", source: "unknown" } as const;
  const channel = random.pick(["uberEats", "deliveroo"] as const);
  const { name } = random.pick(restaurant.regulars);
  const { zipCode, city } = restaurant.establishment;
  const customer = { name, phoneNumber: `06 39 98 ${random.integer(10, 99)} ${random.integer(10, 99)}` };
  return {
    channel,
    source: "platform",
    externalOrderId: `${channel}-${random.hex(8)}`,
    externalLocationId: `${channel}-${restaurant.device.id.slice(0, 8)}`,
    customerInfo: customer,
    deliveryCustomerInfo: { ...customer, expectedAt: times.at(guestStayShareByOrderEvent.end) },
    deliveryAddress: { address: `${random.integer(1, 80)} rue de la Paix`, zipCode, city },
    deliveryComment: random.chance(0.4) ? "Digicode 12B, deuxième étage" : null,
  };
}

import { percentToBasisPoints } from "@pragma/contracts/money";
import type { PosOrderData } from "@pragma/contracts/order-data";
import type { PosOrderPaymentRow, PosOrderProductRow } from "@pragma/contracts/order-rows";
import type { OrderV1 } from "@pragma/contracts/order-v1";
import { listRowDiscounts } from "./discounts.ts";
import { isPaymentReducingAmountDue } from "./reportable-orders.ts";

/** A V1 order without `createdAt` and `updatedAt`, which are added when the order is stored. */
type OrderV1WithoutTimestamps = Omit<OrderV1, "createdAt" | "updatedAt">;

/** Returns a V1 order. It contains all products, but only validated payments, tips and discounts. */
export function toOrderV1(
  order: PosOrderData,
  { locationId, reportId }: Pick<OrderV1, "locationId" | "reportId">,
): OrderV1WithoutTimestamps {
  const payments = order.paymentRowList.filter((payment) => payment.status === "validated");
  return {
    id: order.id,
    customerId: order.firebaseCustomerRefKey,
    deviceId: order.deviceIdentifier,
    deviceName: order.deviceName,
    locationId,
    reportId,
    openedAt: order.openedAt,
    closedAt: order.closedAt,
    guests: order.guestsCount,
    orderPlace: order.roomName,
    orderNumber: order.tableName,
    operatorId: order.operatorId,
    operatorName: order.operatorName,
    total: order.total,
    totalTax: order.totalTax,
    totalDiscount: order.totalDiscount,
    items: order.productRowList.map(toItemV1),
    menus: order.menuRowList.map(({ name, totalRow, productRowList }) => ({
      name,
      amount: totalRow,
      items: productRowList.map(toItemV1),
    })),
    payments: payments.filter(isPaymentReducingAmountDue).map(({ name, amount, paymentMode, paymentId }) => ({
      paymentName: name,
      paymentAmount: amount,
      paymentMode,
      paymentCatalogId: paymentId,
    })),
    tips: payments.flatMap(toTipsV1),
    isCanceled: order.isCanceled,
    isTransferred: order.isTransferred,
    transferReason: order.transferredTo,
    cancelReason: order.canceledReason,
    channel: order.channel,
    serviceType: order.serviceType,
    isTraining: order.isTraining,
    source: order.source,
    externalOrderId: order.externalOrderId,
    externalLocationId: order.externalLocationId,
  };
}

function toItemV1(row: PosOrderProductRow): OrderV1["items"][number] {
  return {
    description: row.name,
    category: row.categoryName,
    subCategory: row.subCategoryName,
    quantity: row.quantity,
    total: row.totalRow,
    unitPrice: row.unitPriceRow,
    weight: row.weight,
    isCanceled: row.isCanceled,
    isTransferred: row.isTransferred,
    transferReason: row.transferredTo,
    cancelReason: row.canceledReason,
    discountsApplied: listRowDiscounts(row).map(({ name, amount, discountId }) => ({
      discountName: name,
      discountValue: amount,
      discountCatalogId: discountId,
    })),
    modifiers: row.modifierRowList.map(({ modifierGroupId, modifierId, name }) => ({
      modifierGroupId,
      modifierId,
      name,
    })),
    tax: {
      taxName: row.taxName,
      taxRate: percentToBasisPoints(row.taxRate),
      taxAmount: row.taxAmount,
      taxableAmount: row.taxableAmount,
      taxCatalogId: row.taxId,
    },
    itemCatalogId: row.productId,
    stockImpactIndicator: row.parentProductRowId === null,
    sku: row.sku,
    isLoss: row.isLoss,
    lossReason: row.lossReason,
    tier: row.pricingName,
  };
}

/** Returns the tip of a payment row, if any: the amount of a row of type `tip`, or the tip on top of another payment. */
function toTipsV1({ paymentType, name, amount, tipAmount, paymentId }: PosOrderPaymentRow): OrderV1["tips"] {
  const tip = paymentType === "tip" ? amount : (tipAmount ?? 0);
  if (paymentType !== "tip" && tip <= 0) return [];
  return [{ tipName: name, tipAmount: tip, tipCatalogId: paymentId }];
}

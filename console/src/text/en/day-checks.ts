interface CheckHelp {
  /** What is compared with what. */
  compares: string;
  /** The likely causes of a failure, the likeliest first. */
  causes: readonly string[];
  /** What the owner of a restaurant can do. */
  action: string;
}

/** What each check of a day means, in the words of a restaurant owner. */
export const dayCheckHelp = {
  recorded_payments: {
    compares:
      "For each payment mode: the payments on the orders, and the total that the point of sale declared when it closed. Tips are left out.",
    causes: [
      "A payment was entered with the wrong mode, such as card instead of cash. Then two modes differ by the same amount, one up and one down.",
      "A payment was added or removed after the point of sale had counted its totals.",
    ],
    action:
      "Compare the modes below with the receipts of the card terminal and the cash. Correct the payment at the point of sale. If the payments are right there, its supplier must correct the declared totals.",
  },
  sales: {
    compares:
      "The sales, and the money for them: payments, deposits and customer accounts, plus what guests still owe, minus what they paid too much or for canceled orders. Tips and change are left out.",
    causes: [
      "An order was closed without a payment, or with only a part of it.",
      "A payment was entered twice, or stayed on an order whose products were removed.",
    ],
    action:
      "If the difference is above zero, look for orders without a payment: more was sold than paid. If it is below zero, look for payments without products. The orders of the report below show both.",
  },
  cash: {
    compares:
      "The cash that was counted at the end, and the cash that should be there: the cash at the start, plus payments, tips and movements in cash, minus change.",
    causes: [
      "The cash was miscounted, or too much or too little change was given.",
      "Money was put into the drawer or taken out, such as for a supplier or the bank, and nobody entered it.",
      "A payment was entered as cash and made by card, or the other way round. Then the payments by card differ too.",
      "The difference is exactly the cash at the start: the point of sale entered it a second time, as a movement.",
    ],
    action:
      "Count again, and look for receipts of money that left the drawer. Enter what is missing as a cash movement, or note the difference for your accountant. A few cents are normal.",
  },
  movement_signs: {
    compares:
      "Money that was put into the drawer must have an amount above zero, and money that was taken out one below zero.",
    causes: [
      "The amount was typed in without its minus sign, or with one too many.",
      "The point of sale sends all amounts above zero, and states the direction only in words.",
    ],
    action:
      "Until it is corrected, money that was taken out counts as money that was added, and the cash check fails as well. Correct the movement at the point of sale. If every movement is affected, its supplier must correct it.",
  },
  order_totals: {
    compares: "The total of each order, and the prices of its products after discounts.",
    causes: [
      "The point of sale did not update the total after a product or a discount changed.",
      "A menu or a divided bill counts a product twice.",
    ],
    action:
      "Nothing in the restaurant causes this. Send the report number and this difference to the supplier of the point of sale.",
  },
  taxes: {
    compares: "For each VAT rate: the prices of the products, and their price without VAT plus the VAT.",
    causes: [
      "The point of sale rounds the VAT of each product, and the remaining cents are lost.",
      "The rate of a product was changed during the day.",
    ],
    action:
      "One or two cents are rounding. If it is more, send the report number and the rate below to the supplier of the point of sale, before you declare the VAT.",
  },
  order_taxes: {
    compares: "The VAT that the orders state, and the VAT of their products.",
    causes: [
      "The point of sale computes the VAT of an order a second time, instead of adding up that of its products.",
    ],
    action:
      "Use the VAT by rate below, which comes from the products. Send the report number to the supplier of the point of sale.",
  },
  order_net_totals: {
    compares: "The totals without VAT that the orders and rooms state, and those of their products.",
    causes: [
      "The point of sale computes the total without VAT a second time, instead of adding up that of its products.",
    ],
    action:
      "Use the amounts without VAT by rate below, which come from the products. Send the report number to the supplier of the point of sale.",
  },
  order_discounts: {
    compares: "The discounts that the orders state, and the discounts on their products.",
    causes: [
      "A discount was removed from a product, and not from the order.",
      "The point of sale states discounts that were not confirmed.",
    ],
    action:
      "Look for the order with the difference below. If its discounts are right there, tell the supplier of the point of sale.",
  },
  report_number_gaps: {
    compares: "The report numbers of each device, which must follow each other without a gap.",
    causes: [
      "A device was offline when it closed, so its report has not arrived yet.",
      "A shift was closed on the device and never sent.",
    ],
    action:
      "Connect the device to the internet, and open its reports: it can usually send the missing numbers again. Sales of a missing report are in no total of this day.",
  },
  report_number_repeats: {
    compares: "The report numbers of each device, each of which must be used only once.",
    causes: [
      "The device was restored from a backup, or replaced, and counted from an old number.",
      "Two devices have the same identifier.",
    ],
    action:
      "Keep both reports: they may be different shifts. Have the supplier of the point of sale set the numbering right, because the law requires numbers without repeats.",
  },
  shift_overlaps: {
    compares: "The shifts of each device, of which one must end before the next begins.",
    causes: [
      "The clock of the device was wrong, or was set during the shift.",
      "A shift was left open, and closed only after the next one had begun.",
    ],
    action:
      "Check the date and time of the device. Sales are not affected, but their times and the business day may be.",
  },
  orders_without_till: {
    compares: "The live orders of the day, and the orders in the reports.",
    causes: [
      "The shift of the order was closed on another device, or its report has not arrived.",
      "The order was removed at the point of sale before the shift was closed.",
    ],
    action:
      "Open the orders below. If they were sold, the point of sale must send the report that contains them, because they are in no total. If they were removed, ask who removed them.",
  },
  cancellations_after_bill: {
    compares: "The time of each cancellation, and the time at which the bill of the order was printed.",
    causes: [
      "A guest sent something back after the bill was printed, or the bill was printed too early.",
      "A product was canceled after the guest had paid for it in cash.",
    ],
    action: "Ask the clerks of these orders for the reason, and note it: tax inspectors look at such cancellations.",
  },
  refunds_without_sale: {
    compares: "The products that were refunded, and those that were sold in the same shift.",
    causes: [
      "The product was sold on an earlier day. Then the refund is right.",
      "The refund was entered without a sale.",
    ],
    action:
      "Look for the sale of the product on the days before. If there is none, ask the clerk who entered the refund.",
  },
} satisfies Record<string, CheckHelp>;

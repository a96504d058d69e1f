/** The example till in the documentation: an order with a pizza and a lunch menu, and a canceled order. */

export const modifierRowExample = {
  id: "0a3f2c1e-5a53-4c1f-9a2e-2f3f1c7f8a01",
  amount: 150,
  name: "Bacon",
  modifierGroupName: "Suppléments",
  modifierId: "4f2a1c3e-8f7a-4d65-9c0b-7f0a7c1d2e02",
  modifierGroupId: "9d1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c03",
};

export const discountRowExample = {
  id: "1b4f3d2f-6b64-4d2a-8b3f-3a4a2d8a9b04",
  amount: 160,
  status: "validated",
  splitAllowed: true,
  name: "Remise 10%",
  discountId: "5a3b2d4f-9a8b-4e76-8d1c-8a1b8d2e3f05",
  discountGroupId: "2c5a4e3a-7c75-4e3b-9c4a-4b5b3e9b0c06",
};

const flags = { isTransferred: false, isMerged: false, isCustomPrice: false, validated: true, isCanceled: false };

const tenPercent = { taxId: "7b1a8997-ac01-490b-83b0-4bcb9609d84b", taxName: "TVA 10%", taxRate: 10 };

export const productRowExample = {
  id: "ffc78796-bbb8-40da-aad7-cacc74b53f6e",
  productId: "32135b34-8523-4575-90dd-15d6ac61e3a6",
  name: "Pizza Regina",
  categoryName: "Pizze",
  subCategoryName: "Classiche",
  recordedAt: "2026-05-29T10:17:19.000Z",
  modifiedAt: "2026-05-29T10:17:19.000Z",
  ...tenPercent,
  taxAmount: 131,
  taxableAmount: 1309,
  unitPriceRow: 1450,
  unitPriceRowWithModifier: 1600,
  totalRowWithModifier: 1600,
  totalDiscount: 160,
  totalRow: 1440,
  quantity: 1,
  weight: null,
  pricingName: "Normal",
  pricingType: "normal",
  currencyCode: "EUR",
  ...flags,
  modifierRowList: [modifierRowExample],
  discountRowList: [discountRowExample],
};

const starter = {
  id: "5ea20a5b-25ce-4dfa-bf6b-3ce2b60d4243",
  productId: "193e1ff7-1513-4429-9d42-d810951179a0",
  name: "Soupe à l'oignon",
  categoryName: "Entrées",
  subCategoryName: "Chaudes",
  ...tenPercent,
  taxAmount: 63,
  taxableAmount: 627,
  unitPriceRow: 690,
  unitPriceRowWithModifier: 690,
  totalRowWithModifier: 690,
  totalDiscount: 0,
  totalRow: 690,
  quantity: 1,
  menuStepName: "Entrée",
  menuStepIndex: 0,
  ...flags,
  modifierRowList: [],
  discountRowList: [],
};

const main = {
  ...starter,
  id: "656dfea9-8a81-4ac6-b504-97e8d3166b05",
  productId: "0ebbe4d0-c551-46d5-9be7-2f6e6e6944d3",
  name: "Entrecôte frites",
  categoryName: "Cuisine",
  subCategoryName: "Viandes",
  taxAmount: 118,
  taxableAmount: 1182,
  unitPriceRow: 1300,
  unitPriceRowWithModifier: 1300,
  totalRowWithModifier: 1300,
  totalRow: 1300,
  menuStepName: "Plat",
  menuStepIndex: 1,
};

export const menuRowExample = {
  id: "298f00d0-c5dd-447b-a7a3-9029593d6adb",
  menuId: "028e5162-e18f-454d-a436-d3902d11d876",
  name: "Formule midi",
  unitPriceRow: 1990,
  totalRow: 1990,
  productRowList: [starter, main],
};

export const paymentRowExample = {
  id: "37bb345b-399f-4c72-90e0-13a2d4ebee26",
  recordedAt: "2026-05-29T10:57:19.000Z",
  amount: 3430,
  changeAmount: 0,
  status: "validated",
  name: "Carte bancaire",
  paymentType: "payment",
  paymentMode: "card",
  paymentId: "f2e66649-bd94-4b64-8e12-1a6638e2406f",
  tipAmount: 200,
  currencyCode: "EUR",
  operatorId: "68dc9f04-6cd3-45a3-8b95-b6578bb9709d",
  operatorName: "Alice",
  paymentProtocol: "nepting",
};

export const orderDataExample = {
  id: "5529b583-5d06-4005-ab83-6b2fe7f1ace0",
  openedAt: "2026-05-29T10:17:19.000Z",
  closedAt: "2026-05-29T10:57:19.000Z",
  total: 3430,
  totalTax: 312,
  totalDiscount: 160,
  totalWithoutTax: 3118,
  leftToPay: 0,
  guestsCount: 2,
  roomType: "room",
  roomName: "Salle",
  tableName: "12",
  operatorId: "68dc9f04-6cd3-45a3-8b95-b6578bb9709d",
  operatorName: "Alice",
  serviceType: "eatin",
  preparationActivated: true,
  isMerged: false,
  manuallyClosed: false,
  isPaid: true,
  isCanceled: false,
  isPrepaid: false,
  isTransferred: false,
  paymentRowList: [paymentRowExample],
  productRowList: [productRowExample],
  menuRowList: [menuRowExample],
};

const canceledOrder = {
  ...orderDataExample,
  id: "1c6752bc-f9c2-499a-ab4e-60dc9552532d",
  openedAt: "2026-05-29T11:02:00.000Z",
  closedAt: "2026-05-29T11:05:00.000Z",
  canceledAt: "2026-05-29T11:05:00.000Z",
  total: 690,
  totalTax: 63,
  totalDiscount: 0,
  totalWithoutTax: 627,
  leftToPay: 690,
  tableName: "7",
  isPaid: false,
  isCanceled: true,
  canceledReason: "Client parti",
  paymentRowList: [],
  productRowList: [{ ...starter, id: "6bdd4ae4-08bc-44d8-bcb1-1d480e9efe00", menuStepName: null, menuStepIndex: null }],
  menuRowList: [],
};

export const financialMovementExample = {
  id: "9764d41c-fd1a-412b-9302-26d25cd05a8e",
  amount: -1500,
  name: "Achat de pain",
  type: "cash-out",
  recordedAt: "2026-05-29T08:30:00.000Z",
  operatorId: "68dc9f04-6cd3-45a3-8b95-b6578bb9709d",
  operatorName: "Alice",
  currencyCode: "EUR",
  paymentMode: "cash",
  paymentName: "Espèces",
};

export const declaredPaymentTotalExample = {
  paymentMode: "card",
  paymentAmount: 3430,
  quantity: 1,
  paymentId: "f2e66649-bd94-4b64-8e12-1a6638e2406f",
  paymentName: "Carte bancaire",
};

export const clerkShiftExample = {
  id: "68dc9f04-6cd3-45a3-8b95-b6578bb9709d",
  name: "Alice",
  clockInDate: "2026-05-29T08:00:00.000Z",
  clockOutDate: "2026-05-29T15:00:00.000Z",
};

export const tillV2Example = {
  id: "1ec9cf7f-f9e7-4488-8a7f-fc282b7050b9",
  establishmentName: "Bistro Démo",
  siretCode: "35075312500235",
  companyName: "SARL Démo",
  address1: "3 rue Théodore Blanc",
  zipCode: "33000",
  city: "Bordeaux",
  country: "France",
  phoneNumber: "05 56 43 26 37",
  tvaCode: "FR89350753125",
  nafCode: "5610A",
  customHeader: "Bienvenue",
  deviceName: "iPad Caisse 3",
  deviceIdentifier: "a79dcf2c-b247-4374-aa48-93bc9fecd469",
  isTraining: false,
  startedAt: "2026-05-29T08:00:00.000Z",
  finalizedAt: "2026-05-29T15:05:00.000Z",
  reportNumber: 24,
  locale: "fr_FR",
  clerkName: "Alice",
  clerkId: "68dc9f04-6cd3-45a3-8b95-b6578bb9709d",
  initialCashBalance: 15000,
  finalCashBalance: 13500,
  financialMovementList: [financialMovementExample],
  declaredPaymentList: [declaredPaymentTotalExample],
  clerkShiftList: [clerkShiftExample],
  orderList: [orderDataExample, canceledOrder],
};

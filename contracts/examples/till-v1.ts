/** The example till in the documentation in the V1 format: one order with a pizza and a menu. */

export const ticketItemV1Example = {
  client_id: "b903f111-8e1f-4d93-8b1b-e14e8ed97714",
  name: "Pizza Regina",
  step: null,
  step_index: null,
  creation_date: "2026-05-29T12:17:19",
  item_client_id: "32135b34-8523-4575-90dd-15d6ac61e3a6",
  quantity: 1,
  weight: null,
  waiter: "Alice",
  category: "Classiche",
  parent_category: "Pizze",
  cancelled: false,
  transferred: false,
  parent_id: null,
  price: { currency: "EUR", tax: 10, tier: "Normal", tax_name: "TVA 10%", amount: 1450 },
  options: [
    {
      client_id: "4f2a1c3e-8f7a-4d65-9c0b-7f0a7c1d2e02",
      name: "Bacon",
      price: 150,
      group_id: "9d1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c03",
      group_name: "Suppléments",
    },
  ],
  discounts: [{ client_id: "5a3b2d4f-9a8b-4e76-8d1c-8a1b8d2e3f05", name: "Remise 10%", amount: 160 }],
  is_loss: false,
};

export const ticketMenuV1Example = {
  client_id: "028e5162-e18f-454d-a436-d3902d11d876",
  name: "Formule midi",
  price: 1300,
  items: [
    {
      ...ticketItemV1Example,
      client_id: "656dfea9-8a81-4ac6-b504-97e8d3166b05",
      name: "Entrecôte frites",
      step: "Plat",
      step_index: 0,
      price: { currency: "EUR", tax: 10, tier: "Normal", tax_name: "TVA 10%", amount: 1300 },
      options: [],
      discounts: [],
    },
  ],
};

export const ticketPaymentV1Example = {
  name: "Carte bancaire",
  cancelled: false,
  amount: 2740,
  person_client_id: "68dc9f04-6cd3-45a3-8b95-b6578bb9709d",
  person_name: "Alice",
  currency: "EUR",
  mode: 1,
  client_id: "7727bd62-341a-4181-9edb-f20a8f64b9bc",
  payment_method_client_id: "f2e66649-bd94-4b64-8e12-1a6638e2406f",
  type: 0,
  creation_date: "2026-05-29T12:57:19",
};

export const ticketV1Example = {
  order_id: "9817d259-f4ee-4270-9581-c03a2b217fb3",
  items: [ticketItemV1Example],
  menus: [ticketMenuV1Example],
  payments: [ticketPaymentV1Example],
  waiter: "Alice",
  waiter_id: "68dc9f04-6cd3-45a3-8b95-b6578bb9709d",
  number_guests: 2,
  price: 2740,
  table: "12",
  room: "Salle",
  date_begin: "2026-05-29T12:17:19",
  date_end: "2026-05-29T12:57:19",
  transferred: false,
  cancelled: false,
};

export const tillV1Example = {
  application: "popina",
  legacyId: 14,
  tillJson: {
    client_id: "s5F67B799-163E-4208-82C1-BE6C4C4006C3",
    server_id: 14,
    ticket_name: "Bistro Démo",
    ticket_company: "35075312500235",
    ticket_country: "France",
    ticket_city: "Bordeaux",
    ticket_zip: "33000",
    ticket_text: "Bienvenue",
    device_name: "iPad Caisse 3",
    date_begin: "2026-05-29T10:00:00",
    date_end: "2026-05-29T17:05:00",
    fiscal: 14,
    locale: "fr_FR",
    person_name: "Alice",
    person_id: "68dc9f04-6cd3-45a3-8b95-b6578bb9709d",
    cash_float_initial: 15000,
    cash_float_final: 13500,
    tickets: [ticketV1Example],
    cash_movements: [
      {
        name: "Achat de pain",
        amount: -1500,
        creation_date: "2026-05-29T10:30:00",
        payment_mode: 0,
        payment_name: "Espèces",
      },
    ],
    total_payments: [{ mode: 1, type: 0, amount: 2740 }],
    team: [
      {
        name: "Alice",
        date_begin: "2026-05-29T10:00:00",
        date_end: "2026-05-29T17:00:00",
        person_client_id: "68dc9f04-6cd3-45a3-8b95-b6578bb9709d",
      },
    ],
  },
};

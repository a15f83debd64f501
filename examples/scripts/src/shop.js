// The data of the shop: orders, stock, and the messages that were sent. Each merchant has orders of their own.

/** Makes a shop with two merchants and a few orders. */
export function makeShop() {
  return {
    orders: [
      { id: 1, merchant: "ada", customer: "kim@example.com", total: 120, items: ["lamp"], note: "" },
      { id: 2, merchant: "bob", customer: "lee@example.com", total: 15, items: ["pen", "ink"], note: "" },
    ],
    stock: { lamp: 3, pen: 40, ink: 0 },
    mails: [],
  };
}

/** Adds an order, and returns it. */
export function addOrder(shop, merchant, { customer, total, items }) {
  const order = { id: shop.orders.length + 1, merchant, customer, total, items, note: "" };
  shop.orders.push(order);
  return order;
}

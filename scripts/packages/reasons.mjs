// Reasons why packages of the list do not work.
export const reasons = {};

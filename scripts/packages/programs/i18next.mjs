import i18next from "i18next";

const resources = {
  en: { translation: { hello: "Hello {{name}}", item_one: "{{count}} item", item_other: "{{count}} items" } },
  de: { translation: { hello: "Hallo {{name}}" } },
};

export default async () => {
  const i18n = i18next.createInstance();
  await i18n.init({ lng: "de", fallbackLng: "en", resources });
  return [
    i18n.t("hello", { name: "Ada" }),
    i18n.t("hello", { name: "Ada", lng: "en" }),
    i18n.t("item", { count: 1, lng: "en" }),
    i18n.t("item", { count: 2, lng: "en" }),
  ];
};

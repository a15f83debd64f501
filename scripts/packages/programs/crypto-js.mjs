import CryptoJS from "crypto-js";

export default () => {
  const key = CryptoJS.enc.Hex.parse("000102030405060708090a0b0c0d0e0f");
  const iv = CryptoJS.enc.Hex.parse("101112131415161718191a1b1c1d1e1f");
  const sealed = CryptoJS.AES.encrypt("é", key, { iv }).toString();
  return [
    String(CryptoJS.SHA256("é")),
    String(CryptoJS.HmacSHA1("m", "k")),
    sealed,
    CryptoJS.AES.decrypt(sealed, key, { iv }).toString(CryptoJS.enc.Utf8),
    CryptoJS.lib.WordArray.random(16).sigBytes,
  ];
};

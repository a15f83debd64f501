/// <reference path="../ts-sdk/engine.d.ts" />

// What scripts find beside JavaScript itself: Tyk's objects, and the means by which no call leaves a trace for the
// next. Runs once for each engine, before any script.
(function () {
  "use strict";

  var ownKeys = Reflect.ownKeys, descriptorOf = Reflect.getOwnPropertyDescriptor, define = Reflect.defineProperty;
  var remove = Reflect.deleteProperty, prototypeOf = Reflect.getPrototypeOf, freeze = Object.freeze;
  var parse = JSON.parse, stringify = JSON.stringify, toText = String, Known = Set, Failure = TypeError;
  var keysOf = Object.keys, isArray = Array.isArray, inherit = Reflect.setPrototypeOf, ordinary = Object.prototype;

  function own(object, name, value) {
    define(object, name, { value: value, writable: true, enumerable: true, configurable: true });
    return value;
  }

  // Headers and parameters are JSON, which is read when a script asks for them: most do not. Until then the text is a member whose name
  // scripts do not have.
  function member(name, unread) {
    return {
      get() { return own(this, name, parse(this[unread])); },
      set(value) { own(this, name, value); },
      enumerable: true,
      configurable: true,
    };
  }

  var unreadHeaders = Symbol("headers"), unreadParams = Symbol("params");
  var headersMember = member("Headers", unreadHeaders), paramsMember = member("Params", unreadParams);

  // The objects that scripts get are made of lists of texts. Their members are in the order of Tyk's JSON.
  function requestOf(texts) {
    var request = { [unreadHeaders]: texts[0], [unreadParams]: texts[1] };
    define(request, "Headers", headersMember);
    request.SetHeaders = {};
    request.DeleteHeaders = [];
    request.Body = texts.length === 7 ? texts[6] : null;
    request.URL = texts[2];
    define(request, "Params", paramsMember);
    request.AddParams = {};
    request.ExtendedParams = {};
    request.DeleteParams = [];
    request.ReturnOverrides = { ResponseCode: 0, ResponseError: "", ResponseBody: "", ResponseHeaders: null, OverrideError: false };
    request.IgnoreBody = false;
    request.Method = texts[3];
    request.RequestURI = texts[4];
    request.Scheme = texts[5];
    return request;
  }

  function virtualRequestOf(texts) {
    var request = { [unreadHeaders]: texts[0], [unreadParams]: texts[1] };
    define(request, "Headers", headersMember);
    request.Body = texts[4];
    request.URL = texts[2];
    define(request, "Params", paramsMember);
    request.Scheme = texts[3];
    return request;
  }

  function responseOf(texts) {
    var response = { [unreadHeaders]: texts[0], StatusCode: parse(texts[1]), Body: texts[2] };
    define(response, "Headers", headersMember);
    response.SetHeaders = {};
    response.DeleteHeaders = [];
    return response;
  }

  // An item of a result: how it is to be read, a name, and a text. No part has the separator in it.
  function item(kind, name, text) {
    return kind + "\0" + name + "\0" + text + "\0";
  }

  function jsonItem(name, value) {
    var text = stringify(value);
    return text === undefined ? "" : item("JSON", name, text);
  }

  // A member that should be an object of texts. If it is something else, the reader finds out.
  function textItems(name, value) {
    if (!value) return "";
    if (typeof value !== "object" || isArray(value)) return jsonItem(name, value);
    var items = "";
    for (var names = keysOf(value), index = 0; index < names.length; index++) {
      var text = value[names[index]];
      if (typeof text !== "string" || text.includes("\0") || names[index].includes("\0")) return jsonItem(name, value);
      items += item(name, names[index], text);
    }
    return items;
  }

  // A list that is not empty has a length; an object in its place is an error that the reader finds.
  function listItem(name, value) {
    return value && value.length !== 0 ? jsonItem(name, value) : "";
  }

  // What a middleware returned, as items of what has changed: writing and reading all of it would take as long as the script itself.
  function changes(answer, body, url, takesMeta) {
    var request = answer.Request, overrides = request.ReturnOverrides, made = textItems("SetHeaders", request.SetHeaders);
    made += listItem("DeleteHeaders", request.DeleteHeaders);
    made += textItems("AddParams", request.AddParams);
    if (request.ExtendedParams && keysOf(request.ExtendedParams).length > 0) made += jsonItem("ExtendedParams", request.ExtendedParams);
    made += listItem("DeleteParams", request.DeleteParams);
    if (request.IgnoreBody) made += jsonItem("IgnoreBody", request.IgnoreBody);
    if (request.Body !== body) made += jsonItem("Body", toText(request.Body));
    if (request.URL !== url) made += jsonItem("URL", request.URL);
    if (overrides && overrides.ResponseCode !== 0) made += jsonItem("ReturnOverrides", overrides);
    if (takesMeta) made += jsonItem("SessionMeta", answer.SessionMeta);
    if (answer.Session) made += jsonItem("Session", answer.Session);
    if (answer.AuthValue) made += jsonItem("AuthValue", answer.AuthValue);
    return made;
  }

  // Tyk's namespace. Functions, not classes: scripts inherit from them in the old way. `ProcessRequest`, `ProcessResponse` and `Handle` are
  // members of each object only, so that scripts can set them although all of this becomes constant.
  function tykJS() {
    function MiddlewareComponentMeta(configuration) {
      this.configuration = configuration;
    }
    MiddlewareComponentMeta.prototype.DoProcessRequest = function (request, session, config, takesMeta) {
      var body = request.Body, url = request.URL;
      if (!this.ProcessRequest) return;
      var answer = this.ProcessRequest(request, session, config);
      return answer ? changes(answer, body, url, takesMeta) : undefined;
    };
    MiddlewareComponentMeta.prototype.DoProcessResponse = function (response, request, session, config) {
      var body = response.Body;
      if (!this.ProcessResponse) return;
      var answer = this.ProcessResponse(response, request, session, config);
      if (!answer) return;
      var made = answer.Response;
      made.Headers = undefined;
      if (made.Body === body) made.IsBodyKept = true, made.Body = undefined;
      return stringify(answer);
    };

    function NewMiddleware(configuration) {
      MiddlewareComponentMeta.call(this, configuration);
    }
    NewMiddleware.prototype = Object.create(MiddlewareComponentMeta.prototype);
    define(NewMiddleware.prototype, "constructor", { value: NewMiddleware, writable: true, configurable: true });
    NewMiddleware.prototype.NewProcessRequest = function (callback) {
      this.ProcessRequest = callback;
    };
    NewMiddleware.prototype.NewProcessResponse = function (callback) {
      this.ProcessResponse = callback;
    };
    NewMiddleware.prototype.ReturnData = function (request, session) {
      return { Request: request, SessionMeta: session };
    };
    NewMiddleware.prototype.ReturnResponseData = function (response, session) {
      return { Response: response, SessionMeta: session };
    };
    NewMiddleware.prototype.ReturnAuthData = function (request, session) {
      return { Request: request, Session: session };
    };

    function EventHandlerComponentMeta() {}
    EventHandlerComponentMeta.prototype.DoProcessEvent = function (event, context) {
      if (this.Handle) this.Handle(event, context);
    };
    function NewEventHandler() {
      EventHandlerComponentMeta.call(this);
    }
    NewEventHandler.prototype = Object.create(EventHandlerComponentMeta.prototype);
    define(NewEventHandler.prototype, "constructor", { value: NewEventHandler, writable: true, configurable: true });
    NewEventHandler.prototype.NewHandler = function (callback) {
      this.Handle = callback;
    };

    return {
      TykMiddleware: { MiddlewareComponentMeta: MiddlewareComponentMeta, NewMiddleware: NewMiddleware },
      TykEventHandlers: { EventHandlerComponentMeta: EventHandlerComponentMeta, NewEventHandler: NewEventHandler },
    };
  }

  function response(answer, meta) {
    return stringify({ Response: answer, SessionMeta: meta });
  }

  // An argument: JSON, the number of a constant of the program, or the texts that an object is made of.
  function value(constants, argument, make) {
    if (typeof argument === "number") return constants[argument]();
    return typeof argument === "string" ? parse(argument) : make(argument);
  }

  // The calls, by the numbers of `Entry`.
  var entries = [
    function (handler, v, a, b, c, d) {
      return handler.DoProcessRequest(value(v, a, requestOf), value(v, b), value(v, c), d !== undefined);
    },
    function (handler, v, a, b, c, d) {
      return handler.DoProcessResponse(value(v, a, responseOf), value(v, b, requestOf), value(v, c), value(v, d));
    },
    function (handler, v, a, b, c) {
      return handler(value(v, a, virtualRequestOf), value(v, b), value(v, c));
    },
    function (handler, v, a, b) {
      handler.DoProcessEvent(value(v, a), value(v, b));
      return "";
    },
    function (handler, v, a, b) {
      var record = value(v, a), answer = handler(record, value(v, b));
      if (answer === null || answer === false) return "";
      return stringify(answer === undefined ? record : answer);
    },
  ];

  function call(entry, handler, constants, a, b, c, d) {
    return entries[entry](handler, constants, a, b, c, d);
  }

  // An object that inherits a constant cannot be given a member of its name by assignment. Members that scripts do assign become accessors
  // whose setter defines the member on the object itself.
  function allowOverride(prototype, name) {
    var known = descriptorOf(prototype, name);
    if (!known || !("value" in known) || !known.configurable) return;
    var value = known.value;
    define(prototype, name, {
      get: function () {
        return value;
      },
      set: function (other) {
        if (this === prototype) throw new Failure("Cannot assign to " + toText(name) + " of a built-in object");
        define(this, name, { value: other, writable: true, enumerable: true, configurable: true });
      },
      enumerable: known.enumerable,
      configurable: false,
    });
  }

  function allowOverrides() {
    [Object.prototype, Function.prototype, Error.prototype].forEach(function (prototype) {
      ownKeys(prototype).forEach(function (name) {
        allowOverride(prototype, name);
      });
    });
    ["toString", "toLocaleString", "constructor", "concat", "join"].forEach(function (name) {
      allowOverride(Array.prototype, name);
    });
    [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError].forEach(function (kind) {
      ["constructor", "name", "message"].forEach(function (name) {
        allowOverride(kind.prototype, name);
      });
    });
    var meta = [tyk.TykMiddleware.MiddlewareComponentMeta, tyk.TykMiddleware.NewMiddleware];
    meta.concat(tyk.TykEventHandlers.EventHandlerComponentMeta, tyk.TykEventHandlers.NewEventHandler).forEach(function (kind) {
      ownKeys(kind.prototype).forEach(function (name) {
        allowOverride(kind.prototype, name);
      });
    });
    [Date, RegExp, String, Number, Boolean, Promise].forEach(function (kind) {
      ["constructor", "toString", "valueOf", "toJSON", "then"].forEach(function (name) {
        allowOverride(kind.prototype, name);
      });
    });
  }

  // Built-in objects that no name leads to.
  function hidden() {
    var generator = prototypeOf(function* () {}), asynchronous = prototypeOf(async function () {});
    var found = [generator, asynchronous, prototypeOf(async function* () {}), prototypeOf(Int8Array)];
    [[][Symbol.iterator](), ""[Symbol.iterator](), new Map()[Symbol.iterator](), new Set()[Symbol.iterator](), "".matchAll(/a/g)].forEach(
      function (iterator) {
        found.push(prototypeOf(iterator));
      },
    );
    return found;
  }

  function freezeAll(roots) {
    var seen = new Known();
    var open = roots.slice();
    while (open.length > 0) {
      var next = open.pop();
      if ((typeof next !== "object" && typeof next !== "function") || next === null || seen.has(next)) continue;
      seen.add(next);
      // The elements of a typed array cannot be frozen; there are none among built-in objects.
      if (next !== globalThis) freeze(next);
      open.push(prototypeOf(next));
      ownKeys(next).forEach(function (name) {
        var member = descriptorOf(next, name);
        if ("value" in member) open.push(member.value);
        else open.push(member.get, member.set);
      });
    }
  }

  var first = new Known(ownKeys(globalThis));

  // Removes what a call has added to the global object. False when that is not possible.
  function sweep() {
    return ownKeys(globalThis).every(function (name) {
      return first.has(name) || remove(globalThis, name);
    });
  }

  // Makes all built-in objects constant, as the scripts' first run has left them.
  function harden() {
    first.add("__tollgate");
    sweep();
    allowOverrides();
    freezeAll(hidden().concat(headersMember, paramsMember, ownKeys(globalThis).map(function (name) {
      return globalThis[name];
    })));
    // The global object inherits them, so that few members of its own have to be counted after each call.
    var world = globalThis, builtins = Object.create(ordinary);
    ownKeys(world).forEach(function (name) {
      var member = descriptorOf(world, name);
      if (!member.configurable) return;
      define(builtins, name, "value" in member ? { value: member.value, writable: false, configurable: false } : member);
      remove(world, name);
    });
    inherit(world, freeze(builtins));
  }

  define(globalThis, "TykJsResponse", { value: response, writable: true, configurable: true });
  var tyk = tykJS();
  define(globalThis, "TykJS", { value: tyk, writable: true, configurable: true });
  first.add("TykJsResponse").add("TykJS");
  return { call: call, sweep: sweep, harden: harden };
})();

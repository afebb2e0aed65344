// What scripts find beside JavaScript itself: Tyk's objects, and the means by which no call leaves a trace for the
// next. Runs once for each engine, before any script. `loud` is called when top-level code has run: from then on, log lines are written.
(function (loud) {
  "use strict";

  var ownKeys = Reflect.ownKeys, descriptorOf = Reflect.getOwnPropertyDescriptor, define = Reflect.defineProperty;
  var remove = Reflect.deleteProperty, prototypeOf = Reflect.getPrototypeOf, freeze = Object.freeze;
  var parse = JSON.parse, stringify = JSON.stringify, toText = String, Known = Set, Failure = TypeError;
  var keysOf = Object.keys, isArray = Array.isArray, inherit = Reflect.setPrototypeOf, ordinary = Object.prototype;
  var put = Reflect.set, has = Reflect.has, prevent = Reflect.preventExtensions, Deferred = Proxy;

  // An object whose members are made when a script looks at them: most scripts look at two or three of fourteen. To a script it is like any
  // other object. `member` makes one member; `all` makes an object with all of them, in order.
  // Each has a state for one call only: of the objects that its `begin` returns, the last one is in use.
  function deferred(member, all) {
    var target, object, isWhole;

    function whole() {
      if (!isWhole) {
        isWhole = true;
        var made = all();
        keysOf(made).forEach(function (name) {
          var known = target[name];
          remove(target, name);
          target[name] = known === undefined ? made[name] : known;
        });
      }
      return target;
    }

    var traps = {
      get(_, name) {
        var value = target[name];
        return value !== undefined || isWhole ? value : member(target, name, whole);
      },
      set(_, name, value, receiver) {
        if (isWhole || receiver !== object || value === undefined) {
          return put(whole(), name, value, receiver === object ? target : receiver);
        }
        target[name] = value;
        return true;
      },
      has: (_, name) => has(whole(), name),
      ownKeys: () => ownKeys(whole()),
      getOwnPropertyDescriptor: (_, name) => descriptorOf(whole(), name),
      defineProperty: (_, name, descriptor) => define(whole(), name, descriptor),
      deleteProperty: (_, name) => remove(whole(), name),
      preventExtensions: () => prevent(whole()),
    };
    return {
      begin() {
        isWhole = false;
        return (object = new Deferred((target = {}), traps));
      },
      // What a script returned as this object: its members so far, or all of another object's.
      seen: (returned) => (returned === object ? target : returned),
      // Whether members of this are missing that the script has not looked at.
      isPart: (seen) => seen === target && !isWhole,
    };
  }

  // Such an object, made of a call's texts from the one at `first` on. `makers` has a function for each member, in the order of Tyk's JSON.
  function deferredTexts(makers) {
    var texts, first;
    inherit(makers, null);
    var object = deferred(
      function (target, name) {
        var make = makers[name];
        return make && (target[name] = make(texts, first));
      },
      function () {
        var made = {};
        for (var name in makers) made[name] = makers[name](texts, first);
        return made;
      },
    );
    var begin = object.begin;
    object.begin = function (all, index) {
      texts = all;
      first = index;
      return begin();
    };
    return object;
  }

  // Such an object that is the same for each call: what is neither object nor list can be read of one that no script changes.
  function deferredConstant(make) {
    var constant = make();
    if (keysOf(constant).some((name) => has(ordinary, name))) return make;
    return deferred(
      function (_, name, whole) {
        var value = constant[name];
        return typeof value === "object" && value !== null ? whole()[name] : value;
      },
      make,
    ).begin;
  }

  var objects = () => ({}), lists = () => [], never = () => false;
  var headersMaker = (texts, first) => parse(texts[first]), paramsMaker = (texts, first) => parse(texts[first + 1]);

  function requestMakers(body) {
    return {
      Headers: headersMaker,
      SetHeaders: objects,
      DeleteHeaders: lists,
      Body: body,
      URL: (texts, first) => texts[first + 2],
      Params: paramsMaker,
      AddParams: objects,
      ExtendedParams: objects,
      DeleteParams: lists,
      ReturnOverrides: () => ({ ResponseCode: 0, ResponseError: "", ResponseBody: "", ResponseHeaders: null, OverrideError: false }),
      IgnoreBody: never,
      Method: (texts, first) => texts[first + 3],
      RequestURI: (texts, first) => texts[first + 4],
      Scheme: (texts, first) => texts[first + 5],
    };
  }

  // Response hooks see no body of the request.
  var request = deferredTexts(requestMakers((texts, first) => texts[first + 6]));
  var answeredRequest = deferredTexts(requestMakers(() => null));
  var virtualRequest = deferredTexts({
    Headers: headersMaker,
    Body: (texts, first) => texts[first + 4],
    URL: (texts, first) => texts[first + 2],
    Params: paramsMaker,
    Scheme: (texts, first) => texts[first + 3],
  });

  var response = deferredTexts({
    Headers: headersMaker,
    StatusCode: (texts, first) => parse(texts[first + 1]),
    Body: (texts, first) => texts[first + 2],
    SetHeaders: objects,
    DeleteHeaders: lists,
  });

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
    var returned = request.seen(answer.Request), overrides = returned.ReturnOverrides, made = textItems("SetHeaders", returned.SetHeaders);
    made += listItem("DeleteHeaders", returned.DeleteHeaders);
    made += textItems("AddParams", returned.AddParams);
    if (returned.ExtendedParams && keysOf(returned.ExtendedParams).length > 0) made += jsonItem("ExtendedParams", returned.ExtendedParams);
    made += listItem("DeleteParams", returned.DeleteParams);
    if (returned.IgnoreBody) made += jsonItem("IgnoreBody", returned.IgnoreBody);
    var isPart = request.isPart(returned);
    if (returned.Body !== body && !(isPart && returned.Body === undefined)) made += jsonItem("Body", toText(returned.Body));
    if (returned.URL !== url && !(isPart && returned.URL === undefined)) made += jsonItem("URL", returned.URL);
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
    MiddlewareComponentMeta.prototype.DoProcessRequest = function (request, session, config) {
      return this.ProcessRequest && this.ProcessRequest(request, session, config);
    };
    MiddlewareComponentMeta.prototype.DoProcessResponse = function (response, request, session, config) {
      return this.ProcessResponse && this.ProcessResponse(response, request, session, config);
    };

    function NewMiddleware(configuration) {
      this.configuration = configuration;
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
    function NewEventHandler() {}
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

  // As in otto: values as text, with spaces between them. They go to the log.
  function consoleOf(write) {
    var made = {}, say = function () {
      var line = "";
      for (var index = 0; index < arguments.length; index++) line += (index > 0 ? " " : "") + toText(arguments[index]);
      write(line);
    };
    ["log", "debug", "info", "warn", "error", "dir"].forEach((name) => (made[name] = say));
    ["time", "timeEnd", "trace", "assert"].forEach((name) => (made[name] = function () {}));
    return made;
  }

  function virtualAnswer(answer, meta) {
    return stringify({ Response: answer, SessionMeta: meta });
  }

  // An argument: the number of a constant of the program, JSON, or null for an object that is made of texts.
  function value(argument, object, texts, first) {
    if (argument === null) return object.begin(texts, first);
    return typeof argument === "number" ? constants[argument]() : parse(argument);
  }

  // The calls, by the numbers of `Entry`.
  var entries = [
    function (handler, texts, a, b, c, d) {
      var made = value(a, request, texts, 0), body = a === null ? texts[6] : made.Body, url = a === null ? texts[2] : made.URL;
      var answer = handler.DoProcessRequest(made, value(b), value(c));
      return answer ? changes(answer, body, url, d !== undefined) : undefined;
    },
    function (handler, texts, a, b, c, d) {
      var made = value(a, response, texts, 0), body = made.Body;
      var answer = handler.DoProcessResponse(made, value(b, answeredRequest, texts, 3), value(c), value(d));
      if (!answer) return;
      var returned = answer.Response;
      returned.Headers = undefined;
      if (returned.Body === body) returned.IsBodyKept = true, returned.Body = undefined;
      return stringify(answer);
    },
    function (handler, texts, a, b, c) {
      return handler(value(a, virtualRequest, texts, 0), value(b), value(c));
    },
    function (handler, texts, a, b) {
      handler.DoProcessEvent(value(a), value(b));
      return "";
    },
    function (handler, texts, a, b) {
      var record = value(a), answer = handler(record, value(b));
      if (answer === null || answer === false) return "";
      return stringify(answer === undefined ? record : answer);
    },
  ];

  // Runs the scripts' top-level code, and returns the handlers.
  var start;
  var constants;
  var stage = "empty";

  function call(entry, handler, a, b, c, d, ...texts) {
    var found = start()[handler];
    loud();
    return entries[entry](found, texts, a, b, c, d);
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
    freezeAll(hidden().concat(ownKeys(globalThis).map(function (name) {
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

  define(globalThis, "TykJsResponse", { value: virtualAnswer, writable: true, configurable: true });
  var tyk = tykJS();
  define(globalThis, "TykJS", { value: tyk, writable: true, configurable: true });
  define(globalThis, "console", { value: consoleOf(log), writable: true, configurable: true });
  first.add("TykJsResponse").add("TykJS").add("console");
  // Called from outside. Scripts can reach it too, so what it keeps between calls is set once only: before their first run has ended.
  return Object.assign(call, {
    sweep: sweep,
    harden() {
      if (stage !== "loaded") return;
      stage = "hard";
      harden();
    },
    load(program, makers) {
      if (stage !== "empty") throw new Failure("the program is loaded already");
      stage = "loading";
      start = program.bind(globalThis);
      constants = makers.map(deferredConstant);
      var handlers = start();
      stage = "loaded";
      return handlers;
    },
  });
})

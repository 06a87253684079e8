CREATE SCHEMA grbp;
CREATE TABLE grbp.cases (
    study text NOT NULL COLLATE pg_catalog."C",
    "case" bigint DEFAULT 0 NOT NULL,
    step bigint DEFAULT 0 NOT NULL,
    state bigint DEFAULT 0 NOT NULL,
    next_state bigint DEFAULT 0 NOT NULL,
    action text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    advised text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    since text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    due text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    seq bigint DEFAULT 0 NOT NULL,
    first bigint DEFAULT 0 NOT NULL,
    threshold bigint DEFAULT 0 NOT NULL,
    status text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    steps bigint DEFAULT 0 NOT NULL,
    overruled bigint DEFAULT 0 NOT NULL,
    f bigint DEFAULT 0 NOT NULL,
    f_goal bigint DEFAULT 0 NOT NULL,
    c bigint DEFAULT 0 NOT NULL,
    c_up bigint DEFAULT 0 NOT NULL,
    held bigint DEFAULT 0 NOT NULL,
    held_f bigint DEFAULT 0 NOT NULL,
    settled bigint DEFAULT 0 NOT NULL,
    opened text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    known text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    version text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE grbp.events (
    study text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    "case" bigint NOT NULL,
    step bigint NOT NULL,
    request text NOT NULL COLLATE pg_catalog."C",
    response text NOT NULL COLLATE pg_catalog."C",
    who text NOT NULL COLLATE pg_catalog."C",
    recorded text NOT NULL COLLATE pg_catalog."C",
    observed text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    previous text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE grbp.meta (
    version bigint NOT NULL
);
CREATE TABLE grbp.studies (
    study text NOT NULL COLLATE pg_catalog."C",
    config text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    head text NOT NULL COLLATE pg_catalog."C",
    opened bigint NOT NULL,
    won bigint NOT NULL,
    lost bigint NOT NULL,
    closed bigint NOT NULL,
    pending bigint NOT NULL,
    counters text NOT NULL COLLATE pg_catalog."C",
    f bigint NOT NULL,
    f_goal bigint NOT NULL,
    c bigint NOT NULL,
    c_up bigint NOT NULL
);
INSERT INTO grbp.cases VALUES ('ward', 1, 1, 2, 3, 'continue', 'continue', '2026-01-01T01:00:00.000000+00:00', '', 4, 0, 0, '', 0, 0, 0, 0, 0, 0, 0, 0, 0, '', '', '');
INSERT INTO grbp.cases VALUES ('Größe', 3, 2, 2, 3, 'finish', 'continue', '2026-01-01T15:00:00.000000+00:00', '2026-01-31T15:00:00.000000+00:00', 11, 0, 0, '', 0, 0, 0, 0, 0, 0, 0, 0, 0, '', '', '');
INSERT INTO grbp.cases VALUES ('ward', 1, 2, 3, 4, 'finish', 'continue', '2026-01-01T00:00:00.000000+00:00', '', 5, 0, 0, '', 0, 0, 0, 0, 0, 0, 0, 0, 0, '', '', '');
INSERT INTO grbp.cases VALUES ('ward', 1, 4611686018427387904, 4, 0, '', '', '2026-01-01T04:00:00.000000+00:00', '', 0, 2, 1, 'won', 2, 1, 1, 1, 1, 1, 0, 0, 1, '2026-01-01T01:00:00.000000+00:00', '[1,1.0,0.17387032083123755,1.0,0.7978089841070879,0.0,0.0,0.0,0.0,0]', '0.1.0');
INSERT INTO grbp.cases VALUES ('ward', 2, 4611686018427387904, 1, 0, '', '', '2026-01-01T02:00:00.000000+00:00', '', 0, 1, 1, 'open', 0, 0, 0, 0, 0, 0, 0, 0, 0, '2026-01-01T02:00:00.000000+00:00', '[2,1.0,0.17387032083123755,1.0,0.7978089841070879,0.0,0.0,0.0,0.0,0]', '0.1.0');
INSERT INTO grbp.cases VALUES ('ward', 3, 4611686018427387904, 3, 0, '', '', '2026-01-01T07:00:00.000000+00:00', '', 0, 3, 1, 'closed', 0, 0, 0, 0, 0, 0, 0, 0, 1, '2026-01-01T07:00:00.000000+00:00', '[3,2.0,1.1738703208312375,2.0,1.797808984107088,0.0,0.0,0.0,0.0,1]', '0.1.0');
INSERT INTO grbp.cases VALUES ('Größe', 1, 1, 1, 2, 'continue', 'continue', '2026-01-01T10:00:00.000000+00:00', '', 3, 0, 0, '', 0, 0, 0, 0, 0, 0, 0, 0, 0, '', '', '');
INSERT INTO grbp.cases VALUES ('Größe', 1, 4611686018427387904, 2, 0, '', '', '2026-01-01T11:00:00.000000+00:00', '', 0, 1, 0, 'open', 1, 0, 0, 0, 1, 1, 0, 0, 0, '2026-01-01T10:00:00.000000+00:00', '[1,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0]', '0.1.0');
INSERT INTO grbp.cases VALUES ('Größe', 2, 1, 1, 2, 'continue', 'continue', '2026-01-01T12:00:00.000000+00:00', '', 5, 0, 0, '', 0, 0, 0, 0, 0, 0, 0, 0, 0, '', '', '');
INSERT INTO grbp.cases VALUES ('Größe', 2, 4611686018427387904, 2, 0, '', '', '2026-01-01T13:00:00.000000+00:00', '', 0, 1, 0, 'open', 1, 0, 0, 0, 1, 1, 0, 0, 0, '2026-01-01T12:00:00.000000+00:00', '[2,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0]', '0.1.0');
INSERT INTO grbp.cases VALUES ('Größe', 3, 1, 1, 2, 'continue', 'continue', '2026-01-01T14:00:00.000000+00:00', '', 7, 0, 0, '', 0, 0, 0, 0, 0, 0, 0, 0, 0, '', '', '');
INSERT INTO grbp.cases VALUES ('Größe', 3, 4611686018427387904, 3, 0, '', '', '2026-01-02T22:00:00.000000+00:00', '', 0, 1, 0, 'won', 2, 1, 0, 0, 1, 1, 1, 1, 0, '2026-01-01T14:00:00.000000+00:00', '[3,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0]', '0.1.0');
INSERT INTO grbp.events VALUES ('ward', 1, 'study', 0, 0, '{"config":{"name":"ward","goal":4,"learner":"doorstep-lai","constants":{"horizon":0.0,"prior":1.25,"lean":1.0,"least":2.0},"seed":3,"shadow":false,"windows":{},"start":"drawn","level":0.95,"version":"0.1.0"}}', '{}', 'Ada', '2026-01-01T00:00:00.000000+00:00', '', '', '0000000000000000000000000000000000000000000000000000000000000000', 'b81900ef3182083e5b35f2b3aadbb5d797bb3ff75aa1294ed7b550a73765cd90');
INSERT INTO grbp.events VALUES ('ward', 2, 'open', 1, 0, '{"state":2}', '{"state":2,"status":"open","step":0,"action":"continue","threshold":1,"known":[1,1.0,0.17387032083123755,1.0,0.7978089841070879,0.0,0.0,0.0,0.0,0],"draw":12244649661903851896,"learner":"doorstep-lai","version":"0.1.0"}', 'Ada', '2026-01-01T01:00:00.000000+00:00', '', 'bed 7', 'b81900ef3182083e5b35f2b3aadbb5d797bb3ff75aa1294ed7b550a73765cd90', '9543ea8b48ec656ebe7bb7f670be47cee50633b99b1d956dcbac4341ea75b83b');
INSERT INTO grbp.events VALUES ('ward', 3, 'open', 2, 0, '{"state":1}', '{"state":1,"status":"open","step":0,"action":"finish","threshold":1,"known":[2,1.0,0.17387032083123755,1.0,0.7978089841070879,0.0,0.0,0.0,0.0,0],"draw":18418479947289039324,"learner":"doorstep-lai","version":"0.1.0"}', 'Ada', '2026-01-01T02:00:00.000000+00:00', '', '', '9543ea8b48ec656ebe7bb7f670be47cee50633b99b1d956dcbac4341ea75b83b', 'ab7601154947f9c90b98e10d52b9611790f9a9731cc7c9e023e21d7f81d53ecc');
INSERT INTO grbp.events VALUES ('ward', 4, 'tell', 1, 1, '{"case":1,"state":3,"took":null,"why":"","step":null}', '{"state":3,"status":"open","step":1,"action":"continue","took":"continue","advised":"continue","counted":true}', 'Ada', '2026-01-01T03:00:00.000000+00:00', '2026-01-01T00:00:00.000000+00:00', '', 'ab7601154947f9c90b98e10d52b9611790f9a9731cc7c9e023e21d7f81d53ecc', 'f4c4833f653ad5c79648b7b444769f59ea233f8f8bceabd8a326c3d3a14bd191');
INSERT INTO grbp.events VALUES ('ward', 5, 'tell', 1, 2, '{"case":1,"state":4,"took":"finish","why":"a bed was free","step":null}', '{"state":4,"status":"won","step":2,"action":null,"took":"finish","advised":"continue","counted":true}', 'Øyvind 日本', '2026-01-01T04:00:00.000000+00:00', '', '', 'f4c4833f653ad5c79648b7b444769f59ea233f8f8bceabd8a326c3d3a14bd191', '9bf777b808ff93a39f846c889ce466ff91966b3d85d995ebdab3bd521d660169');
INSERT INTO grbp.events VALUES ('ward', 6, 'tell', 2, 1, '{"case":2,"state":0,"took":null,"why":"","step":null}', '{"state":0,"status":"lost","step":1,"action":null,"took":"finish","advised":"finish","counted":true}', 'Ada', '2026-01-01T05:00:00.000000+00:00', '', 'the second', '9bf777b808ff93a39f846c889ce466ff91966b3d85d995ebdab3bd521d660169', '48d4536522362bd42ca41d9b7ab26a1f5dfb199f1b00b81b9c8cdca95320da19');
INSERT INTO grbp.events VALUES ('ward', 7, 'void', 2, 1, '{"case":2,"why":"it was the other bed","step":null}', '{"state":1,"status":"open","step":0,"action":"finish"}', 'Ada', '2026-01-01T06:00:00.000000+00:00', '', '', '48d4536522362bd42ca41d9b7ab26a1f5dfb199f1b00b81b9c8cdca95320da19', 'b5f9d524ac38310a9c41ea423e0001186a4f10f3dc237d676502bf3ba71282e0');
INSERT INTO grbp.events VALUES ('ward', 8, 'open', 3, 0, '{"state":3}', '{"state":3,"status":"open","step":0,"action":"continue","threshold":1,"known":[3,2.0,1.1738703208312375,2.0,1.797808984107088,0.0,0.0,0.0,0.0,1],"draw":4212573407822603172,"learner":"doorstep-lai","version":"0.1.0"}', 'Ada', '2026-01-01T07:00:00.000000+00:00', '', '', 'b5f9d524ac38310a9c41ea423e0001186a4f10f3dc237d676502bf3ba71282e0', 'c971464b72bed8691554782acc4b5c816c268e999306e31ce12a465918555f9d');
INSERT INTO grbp.events VALUES ('ward', 9, 'close', 3, 0, '{"case":3,"why":"moved to another ward"}', '{"state":3,"status":"closed","step":0,"action":null}', 'Ada', '2026-01-01T08:00:00.000000+00:00', '', '', 'c971464b72bed8691554782acc4b5c816c268e999306e31ce12a465918555f9d', 'fe77d21a3faaf776282b9b6c91cd4d6a43c897a69067f07a8f9ad6fbe751e2cd');
INSERT INTO grbp.events VALUES ('Größe', 1, 'study', 0, 0, '{"config":{"name":"Gr\u00f6\u00dfe","goal":3,"learner":"getbe-sm","constants":{"gamma":15.0},"seed":0,"shadow":true,"windows":{"continue":86400.0,"finish":2592000.0},"start":"first","level":0.95,"version":"0.1.0"}}', '{}', 'Ada', '2026-01-01T09:00:00.000000+00:00', '', '', '0000000000000000000000000000000000000000000000000000000000000000', 'efd858edc1a5f1fac22f1c9e0f3616c73a07dbd65a10959227cd55509195ad2e');
INSERT INTO grbp.events VALUES ('Größe', 2, 'open', 1, 0, '{"state":1}', '{"state":1,"status":"open","step":0,"action":"continue","threshold":0,"known":[1,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0],"draw":9771507913574985307,"learner":"getbe-sm","version":"0.1.0"}', 'Ada', '2026-01-01T10:00:00.000000+00:00', '', '', 'efd858edc1a5f1fac22f1c9e0f3616c73a07dbd65a10959227cd55509195ad2e', '0b5c60f07221edca11889e2b3ccaadbdc37b2382cc237ab609cc13ce5b617ac3');
INSERT INTO grbp.events VALUES ('Größe', 3, 'tell', 1, 1, '{"case":1,"state":2,"took":"continue","why":"as always","step":null}', '{"state":2,"status":"open","step":1,"action":"continue","took":"continue","advised":"continue","counted":false}', 'Ada', '2026-01-01T11:00:00.000000+00:00', '', '', '0b5c60f07221edca11889e2b3ccaadbdc37b2382cc237ab609cc13ce5b617ac3', '6e56dad8b2e82db03e642100951cd20efa6a289feba43ac130f6241854d8d0ba');
INSERT INTO grbp.events VALUES ('Größe', 4, 'open', 2, 0, '{"state":1}', '{"state":1,"status":"open","step":0,"action":"continue","threshold":0,"known":[2,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0],"draw":3534243657434133056,"learner":"getbe-sm","version":"0.1.0"}', 'Ada', '2026-01-01T12:00:00.000000+00:00', '', '', '6e56dad8b2e82db03e642100951cd20efa6a289feba43ac130f6241854d8d0ba', 'cdde13ca69e0f3061abafd12bd2fb1079e3be884942a63c9385838a154439654');
INSERT INTO grbp.events VALUES ('Größe', 5, 'tell', 2, 1, '{"case":2,"state":2,"took":"continue","why":"as always","step":null}', '{"state":2,"status":"open","step":1,"action":"continue","took":"continue","advised":"continue","counted":false}', 'Ada', '2026-01-01T13:00:00.000000+00:00', '', '', 'cdde13ca69e0f3061abafd12bd2fb1079e3be884942a63c9385838a154439654', 'd7881c5d7e57fccf32e1b83e611426c403af2c506cb166206832f306af601520');
INSERT INTO grbp.events VALUES ('Größe', 6, 'open', 3, 0, '{"state":1}', '{"state":1,"status":"open","step":0,"action":"continue","threshold":0,"known":[3,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0],"draw":15608624037093954736,"learner":"getbe-sm","version":"0.1.0"}', 'Ada', '2026-01-01T14:00:00.000000+00:00', '', '', 'd7881c5d7e57fccf32e1b83e611426c403af2c506cb166206832f306af601520', '58191ad870266a1322ab5f579f8224196a7429c5db03be1731cc86308b2838c0');
INSERT INTO grbp.events VALUES ('Größe', 7, 'tell', 3, 1, '{"case":3,"state":2,"took":"continue","why":"as always","step":null}', '{"state":2,"status":"open","step":1,"action":"continue","took":"continue","advised":"continue","counted":false}', 'Ada', '2026-01-01T15:00:00.000000+00:00', '', '', '58191ad870266a1322ab5f579f8224196a7429c5db03be1731cc86308b2838c0', 'ba854872a61f15be8bad7b75285b99a01e1f9f5dffda97317e8ded8ccbc7f862');
INSERT INTO grbp.events VALUES ('Größe', 8, 'mature', 1, 1, '{"case":1,"step":1}', '{}', 'Ada', '2026-01-02T22:00:00.000000+00:00', '', '', 'ba854872a61f15be8bad7b75285b99a01e1f9f5dffda97317e8ded8ccbc7f862', 'c923a2d2f36837eca51ffa4dd7c3a5313654cf2ba0d4ce179d32a13b0e712f0b');
INSERT INTO grbp.events VALUES ('Größe', 9, 'mature', 2, 1, '{"case":2,"step":1}', '{}', 'Ada', '2026-01-02T22:00:00.000000+00:00', '', '', 'c923a2d2f36837eca51ffa4dd7c3a5313654cf2ba0d4ce179d32a13b0e712f0b', '92de941c6b4b4a171e820c8db6cdc0110d35daeaad47f2e2941179f6beff97c4');
INSERT INTO grbp.events VALUES ('Größe', 10, 'mature', 3, 1, '{"case":3,"step":1}', '{}', 'Ada', '2026-01-02T22:00:00.000000+00:00', '', '', '92de941c6b4b4a171e820c8db6cdc0110d35daeaad47f2e2941179f6beff97c4', 'b6e2de52567427618113d109de2edc3b32f59b9dc33e29784b368cd5aff5b902');
INSERT INTO grbp.events VALUES ('Größe', 11, 'tell', 3, 2, '{"case":3,"state":3,"took":"finish","why":"as always","step":null}', '{"state":3,"status":"won","step":2,"action":null,"took":"finish","advised":"continue","counted":false}', 'Ada', '2026-01-02T22:00:00.000000+00:00', '', '', 'b6e2de52567427618113d109de2edc3b32f59b9dc33e29784b368cd5aff5b902', 'ba26374204d4bb05e99059a100a910635f590c23eb7046d2c1c4e4cc299c0077');
INSERT INTO grbp.meta VALUES (1);
INSERT INTO grbp.studies VALUES ('Größe', '{"name":"Gr\u00f6\u00dfe","goal":3,"learner":"getbe-sm","constants":{"gamma":15.0},"seed":0,"shadow":true,"windows":{"continue":86400.0,"finish":2592000.0},"start":"first","level":0.95,"version":"0.1.0"}', 11, 'ba26374204d4bb05e99059a100a910635f590c23eb7046d2c1c4e4cc299c0077', 3, 1, 0, 0, 1, '[1,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0]', 0, 0, 3, 3);
INSERT INTO grbp.studies VALUES ('ward', '{"name":"ward","goal":4,"learner":"doorstep-lai","constants":{"horizon":0.0,"prior":1.25,"lean":1.0,"least":2.0},"seed":3,"shadow":false,"windows":{},"start":"drawn","level":0.95,"version":"0.1.0"}', 9, 'fe77d21a3faaf776282b9b6c91cd4d6a43c897a69067f07a8f9ad6fbe751e2cd', 3, 1, 0, 1, 1, '[2,2.0,1.1738703208312375,2.0,1.797808984107088,0.0,0.0,0.0,0.0]', 0, 0, 0, 0);
ALTER TABLE ONLY grbp.cases
    ADD CONSTRAINT cases_pkey PRIMARY KEY (study, "case", step);
ALTER TABLE ONLY grbp.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (study, seq);
ALTER TABLE ONLY grbp.studies
    ADD CONSTRAINT studies_pkey PRIMARY KEY (study);
CREATE INDEX cases_due ON grbp.cases USING btree (study, due) WHERE (due <> ''::text);
CREATE INDEX cases_status ON grbp.cases USING btree (study, status, "case") WHERE (step = '4611686018427387904'::bigint);
CREATE UNIQUE INDEX events_key ON grbp.events USING btree (study, key) WHERE (key <> ''::text);
ALTER TABLE ONLY grbp.cases
    ADD CONSTRAINT cases_study_fkey FOREIGN KEY (study) REFERENCES grbp.studies(study);
ALTER TABLE ONLY grbp.events
    ADD CONSTRAINT events_study_fkey FOREIGN KEY (study) REFERENCES grbp.studies(study);

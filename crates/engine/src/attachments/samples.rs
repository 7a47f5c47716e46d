//! The same small tables in many encodings, as other programs write them: made with Python's `csv` module and codecs.
//! Each is its name, its bytes in base64, and what it says.

pub(crate) const SAMPLES: [(&str, &str, &str); 17] = [
    (
        "utf-8",
        "57yW5Y+3LOWnk+WQjSzln47luIIs5aSH5rOoDQoxLOW8oOS8nyzljJfkuqws5bey57uP5LuY5qy+77yM562J5b6F5Y+R6LSnDQoyLOeOi+iKsyzkuIrmtbcs5a6i5oi36KaB5rGC5LiL5ZGo5LiJ5Lul5YmN6YCB5YiwDQozLOadjuWonCzmt7HlnLMs6YCA6LSn77ya5YyF6KOF56C05o2fDQo=",
        "编号,姓名,城市,备注\n1,张伟,北京,已经付款，等待发货\n2,王芳,上海,客户要求下周三以前送到\n3,李娜,深圳,退货：包装破损\n",
    ),
    (
        "utf-8 with bom",
        "77u/57yW5Y+3LOWnk+WQjSzln47luIIs5aSH5rOoDQoxLOW8oOS8nyzljJfkuqws5bey57uP5LuY5qy+77yM562J5b6F5Y+R6LSnDQoyLOeOi+iKsyzkuIrmtbcs5a6i5oi36KaB5rGC5LiL5ZGo5LiJ5Lul5YmN6YCB5YiwDQozLOadjuWonCzmt7HlnLMs6YCA6LSn77ya5YyF6KOF56C05o2fDQo=",
        "编号,姓名,城市,备注\n1,张伟,北京,已经付款，等待发货\n2,王芳,上海,客户要求下周三以前送到\n3,李娜,深圳,退货：包装破损\n",
    ),
    (
        "utf-16le with bom",
        "//4Wf/dTLADTWQ1ULADOVwJeLAAHWehsDQAKADEALAAgXx9PLAAXU6xOLADyXc9+2E4+awz/SXuFX9FTJ40NAAoAMgAsAItzs4IsAApOd20sAKJbN2KBiUJsC05oVAlO5U5NUgGQMFINAAoAMwAsAE5nHFosAPFtM1csAACQJ40a/wVTxYg0eF9jDQAKAA==",
        "编号,姓名,城市,备注\n1,张伟,北京,已经付款，等待发货\n2,王芳,上海,客户要求下周三以前送到\n3,李娜,深圳,退货：包装破损\n",
    ),
    (
        "utf-16be with bom",
        "/v91alP3ACxsD1QNACyQ/V4CACxQmYADAA0ACgAxACxPUIXkACBZKpDOACxncU6sACwwSmUvYlUwRG4IMH8wAXZ6kAFfhTBhMGcwWQANAAoAMgAskjRnKAAggrFbUAAsWSeWKgAsZ2WQMTBubDRm3GXlMH4wZzBrXEowUTBmME8wYDBVMEQADQAKADMALJrYaksAIFBlACxUDVPkXEsALI/UVMH/GnuxMExYyjCMMGYwRDB+MFcwXwANAAo=",
        "番号,氏名,都市,備考\n1,佐藤 太郎,東京,お支払い済み、発送待ちです\n2,鈴木 花子,大阪,来週の水曜日までに届けてください\n3,高橋 健,名古屋,返品：箱が壊れていました\n",
    ),
    (
        "utf-16le",
        "Fn/3UywA01kNVCwAzlcCXiwAB1nobA0ACgAxACwAIF8fTywAF1OsTiwA8l3PfthOPmsM/0l7hV/RUyeNDQAKADIALACLc7OCLAAKTndtLACiWzdigYlCbAtOaFQJTuVOTVIBkDBSDQAKADMALABOZxxaLADxbTNXLAAAkCeNGv8FU8WINHhfYw0ACgA=",
        "编号,姓名,城市,备注\n1,张伟,北京,已经付款，等待发货\n2,王芳,上海,客户要求下周三以前送到\n3,李娜,深圳,退货：包装破损\n",
    ),
    (
        "utf-16be",
        "AE4AcgAsAE4AYQBtAGUALABTAHQAYQBkAHQALABCAGUAbQBlAHIAawB1AG4AZwANAAoAMQAsAEoA/AByAGcAZQBuACAARwByAG8A3wAsAE0A/ABuAGMAaABlAG4ALAAiAGIAZQB6AGEAaABsAHQAICATACAAdwBhAHIAdABlAHQAIABhAHUAZgAgAFYAZQByAHMAYQBuAGQALAAgADEAMgAsADUAMAAgIKwAIgANAAoAMgAsAEYAcgBhAG4A5wBvAGkAcwAgAEwAZQBmAOgAdgByAGUALABCAGUAcwBhAG4A5wBvAG4ALAAiAOAAIABsAGkAdgByAGUAcgAgAGEAdgBhAG4AdAAgAG0AZQByAGMAcgBlAGQAaQAsACAAcyAZAGkAbAAgAHYAbwB1AHMAIABwAGwAYQDuAHQAIgANAAoAMwAsAMUAcwBhACAA1gBiAGUAcgBnACwATQBhAGwAbQD2ACwgHgBiAGUAcwBjAGgA5ABkAGkAZwB0IBwAIAB6AHUAcgD8AGMAawANAAo=",
        "Nr,Name,Stadt,Bemerkung\n1,Jürgen Groß,München,\"bezahlt – wartet auf Versand, 12,50 €\"\n2,François Lefèvre,Besançon,\"à livrer avant mercredi, s’il vous plaît\"\n3,Åsa Öberg,Malmö,„beschädigt“ zurück\n",
    ),
    (
        "gbk",
        "seC6xSzQ1cP7LLPHytAssbjXog0KMSzVxc6wLLGxvqks0tG+rbi2v+6jrLXItP23orv1DQoyLM31t7wsyc+6oyy/zbun0qrH88/C1tzI/dLUx7DLzbW9DQozLMDuxMgsye7b2izNy7v1o7qw/NewxsbL8A0K",
        "编号,姓名,城市,备注\n1,张伟,北京,已经付款，等待发货\n2,王芳,上海,客户要求下周三以前送到\n3,李娜,深圳,退货：包装破损\n",
    ),
    (
        "gb18030",
        "seC6xSzQ1cP7LLPHytAssbjXog0KMSzVxc6wLLGxvqks0tG+rbi2v+6jrLXItP23orv1DQoyLM31t7wsyc+6oyy/zbun0qrH88/C1tzI/dLUx7DLzbW9DQozLMDuxMgsye7b2izNy7v1o7qw/NewxsbL8A0KNCyVNLI10rCBOe8xLLarvqksyfrGp9fWDQo=",
        "编号,姓名,城市,备注\n1,张伟,北京,已经付款，等待发货\n2,王芳,上海,客户要求下周三以前送到\n3,李娜,深圳,退货：包装破损\n4,𠮷野㐂,东京,生僻字\n",
    ),
    (
        "big5",
        "vXO4uSypbaZXLKuwpasss8a1+Q0KMSyzr6fTqfosu0+lXyykd7hnpUm02qFBtaWr3aVYs2YNCjIsqkyyUariLLCqtq8sq8ik4a1uqESkVbZnpFSlSKtlsGWo7A0KMyy2wKvYp7ssu0+kpCywaLNmoUelXbjLr323bA0K",
        "編號,姓名,城市,備註\n1,陳志明,臺北,已經付款，等待出貨\n2,林淑芬,高雄,客戶要求下週三以前送到\n3,黃建宏,臺中,退貨：包裝破損\n",
    ),
    (
        "shift-jis",
        "lNSNhiyOgZa8LJNzjnMslPWNbA0KMSyNspOhIJG+mFksk4yLniyCqI54laWCoo3Pgt2BQZStkZeR0oK/gsWCtw0KMiyX6ZbYIInUjnEskeWN4yyXiI9UgsyQhZdqk/qC3ILFgsmTzYKvgsSCrYK+grOCog0KMyyNgou0IIySLJa8jMOJriyV1JVpgUaUoIKqifOC6oLEgqKC3IK1gr0NCg==",
        "番号,氏名,都市,備考\n1,佐藤 太郎,東京,お支払い済み、発送待ちです\n2,鈴木 花子,大阪,来週の水曜日までに届けてください\n3,高橋 健,名古屋,返品：箱が壊れていました\n",
    ),
    (
        "euc-jp",
        "yNa55iy74cy+LMXUu9QsyPe5zQ0KMSy6tMajIMLAz7osxey1/iykqrvZyqekpLrRpN+hosivwffC1KTBpMekuQ0KMizO68zaILLWu9Iswue65SzN6L21pM6/5c3Lxvyk3qTHpMvGz6SxpMakr6TApLWkpA0KMyy54ra2ILfyLMy+uMWysCzK1snKoafIoqSssvWk7KTGpKSk3qS3pL8NCg==",
        "番号,氏名,都市,備考\n1,佐藤 太郎,東京,お支払い済み、発送待ちです\n2,鈴木 花子,大阪,来週の水曜日までに届けてください\n3,高橋 健,名古屋,返品：箱が壊れていました\n",
    ),
    (
        "iso-2022-jp",
        "GyRCSFY5ZhsoQiwbJEI7YUw+GyhCLBskQkVUO1QbKEIsGyRCSHc5TRsoQg0KMSwbJEI6NEYjGyhCIBskQkJATzobKEIsGyRCRWw1fhsoQiwbJEIkKjtZSickJDpRJF8hIkgvQXdCVCRBJEckORsoQg0KMiwbJEJOa0xaGyhCIBskQjJWO1IbKEIsGyRCQmc6ZRsoQiwbJEJNaD01JE4/ZU1LRnwkXiRHJEtGTyQxJEYkLyRAJDUkJBsoQg0KMywbJEI5YjY2GyhCIBskQjdyGyhCLBskQkw+OEUyMBsoQiwbJEJKVklKISdIIiQsMnUkbCRGJCQkXiQ3JD8bKEINCg==",
        "番号,氏名,都市,備考\n1,佐藤 太郎,東京,お支払い済み、発送待ちです\n2,鈴木 花子,大阪,来週の水曜日までに届けてください\n3,高橋 健,名古屋,返品：箱が壊れていました\n",
    ),
    (
        "euc-kr",
        "ufjIoyzAzLinLLW1vcMsuvGw7Q0KMSyx6LnOwdgsvK2/7ywisOHBpiC/z7fhLCC56LzbILTrseIgwd/A1LTPtNkiDQoyLMDMvK2/rCy6zrvqLLTZwL0gwdYgvPa/5MDPse7B9iC6uLO7IMHWvLy/5A0KMyy52sH2yMYstOuxuCy53cewOiDG98DlwMwgxsS81bXHvvq9wLTPtNkNCg==",
        "번호,이름,도시,비고\n1,김민준,서울,\"결제 완료, 배송 대기 중입니다\"\n2,이서연,부산,다음 주 수요일까지 보내 주세요\n3,박지훈,대구,반품: 포장이 파손되었습니다\n",
    ),
    (
        "windows-1252",
        "TnIsTmFtZSxTdGFkdCxCZW1lcmt1bmcNCjEsSvxyZ2VuIEdyb98sTfxuY2hlbiwiYmV6YWhsdCCWIHdhcnRldCBhdWYgVmVyc2FuZCwgMTIsNTAggCINCjIsRnJhbudvaXMgTGVm6HZyZSxCZXNhbudvbiwi4CBsaXZyZXIgYXZhbnQgbWVyY3JlZGksIHOSaWwgdm91cyBwbGHudCINCjMsxXNhINZiZXJnLE1hbG32LIRiZXNjaORkaWd0kyB6dXL8Y2sNCg==",
        "Nr,Name,Stadt,Bemerkung\n1,Jürgen Groß,München,\"bezahlt – wartet auf Versand, 12,50 €\"\n2,François Lefèvre,Besançon,\"à livrer avant mercredi, s’il vous plaît\"\n3,Åsa Öberg,Malmö,„beschädigt“ zurück\n",
    ),
    (
        "windows-1251",
        "ze7s5fAsyOz/LMPu8O7kLM/w6Ozl9+Dt6OUNCjEsyOLg7SDP5fLw7uIszO7x6uLgLCLu7+vg9+Xt7iwg7ubo5ODl8iDu8u/w4OLq6CINCjIswO3t4CDR7Ojw7e7i4CzK4Ofg7fws5O7x8uDi6PL8IOTuIPHr5eTz/vnl6SDx8OXk+w0K",
        "Номер,Имя,Город,Примечание\n1,Иван Петров,Москва,\"оплачено, ожидает отправки\"\n2,Анна Смирнова,Казань,доставить до следующей среды\n",
    ),
    (
        "latin-1",
        "R3L832UgYXVzIEv2bG4sCnZvaWzgOiBk6WrgIHZ1IOAgR2Vu6HZlLgo=",
        "Grüße aus Köln,\nvoilà: déjà vu à Genève.\n",
    ),
    ("short gbk", "xOO6w6OsysC95w==", "你好，世界"),
];
